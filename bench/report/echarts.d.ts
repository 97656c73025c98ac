declare module "echarts/dist/echarts.common.min.js" {
  const echarts: unknown;
  export default echarts;
}
