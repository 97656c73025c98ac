/**
 * What PCIe lanes carry. 2.5 and 5 GT/s are coded 8b/10b, 8, 16 and 32 GT/s 128b/130b (PCI Express Base
 * Specification 5.0, chapter 4.2). MB/s are of 10^6 bytes, one direction; as much goes the other way.
 */

/** MB/s of one lane after line coding, packets not yet counted. */
export const laneRate = (gigatransfers: number): number =>
  ((gigatransfers * 1000) / 8) * (gigatransfers < 8 ? 8 / 10 : 128 / 130);

/** Bytes of header, framing, sequence number and CRC around a packet's data: 6 of 4 bytes (Intel AN 708: 5 to 7). */
const packetOverhead = 24;
/** Bytes of data in a packet (Max_Payload_Size). 256 is what most server chipsets agree to; some take 128. */
const packetData = 256;
/** Left by acknowledgements and flow control: 57.88 of 62.96 Gbit/s (Neugebauer et al., SIGCOMM 2018, section 3). */
const linkLayer = 57.88 / 62.96;

/** The part of the coded rate that is left for data: 0.84. */
export const pcieEfficiency = (linkLayer * packetData) / (packetData + packetOverhead);

/** MB/s of data that a PCIe slot carries one way: a 5 GT/s x8 slot 4,000 after coding, 3,362 of data. */
export const pcieRate = ({ speed, width }: { speed: number; width: number }): number =>
  laneRate(speed) * width * pcieEfficiency;

const generations: Record<number, string> = { 2.5: "1.0", 5: "2.0", 8: "3.0", 16: "4.0", 32: "5.0" };

/** PCIe 2.0 x8 */
export const pcieName = ({ speed, width }: { speed: number; width: number }): string =>
  `PCIe ${generations[speed] ?? `${speed} GT/s`} x${width}`;
