/**
 * The part of a link's data rate (after line coding) that is left for payload, 0 to 1, once every header is taken
 * away. Sizes of headers in bytes: IEEE 802.3 (preamble 8, header 14, FCS 4, gap 12), RFC 791 and 8200, RFC 9293 with
 * the timestamps of RFC 7323, RFC 7143 (basic header segment 48), InfiniBand Architecture Specification 1.4 volume 1
 * (LRH 8, BTH 12, DETH 8, ICRC 4, VCRC 2), its annex A17 (RoCE v2), RFC 4391 (IPoIB, header 4).
 */

/** Around each Ethernet frame's contents. */
const ethernet = 8 + 14 + 4 + 12;
/** IPv4, TCP, timestamps: inside the MTU. IPv6 takes 20 more. */
const tcp = 20 + 20 + 12;
const basicHeader = 48;
/** Of an InfiniBand packet of a reliable connection, and of a datagram. */
const reliable = 8 + 12 + 4 + 2;
const datagram = reliable + 8;
const ipoibHeader = 4;
/** RoCE v2: IPv4, UDP, BTH, ICRC, and the frame around them. */
const roce = 20 + 8 + 12 + 4 + ethernet;

/** InfiniBand's largest path MTU: taken where the device doesn't say, as a bound must not be too low. */
const largestPathMtu = 4096;

/** iSCSI PDUs of at most this much data: Open-iSCSI's node.conn[0].iscsi.MaxRecvDataSegmentLength. */
export const defaultPdu = 262144;

export type Wire = {
  kind: "ethernet" | "infiniband" | "unknown";
  /** MTU of the network interface. */
  mtu: number | null;
  /** Active MTU of the RDMA device. */
  rdmaMtu: number | null;
  /** IPoIB; null: not IPoIB, or not said, which counts as datagram. */
  mode: "datagram" | "connected" | null;
};

/** TCP's part: what is left of the link for a stream of bytes. Null: the MTU or the kind of link isn't known. */
function tcpEfficiency({ kind, mtu, rdmaMtu, mode }: Wire): number | null {
  if (mtu === null || mtu <= tcp) return null;
  if (kind === "ethernet") return (mtu - tcp) / (mtu + ethernet);
  if (kind !== "infiniband") return null;
  if (mode !== "connected") return (mtu - tcp) / (mtu + ipoibHeader + datagram);
  // One IP packet goes as a message of several packets of the path MTU.
  const message = mtu + ipoibHeader;
  return (mtu - tcp) / (message + Math.ceil(message / (rdmaMtu ?? largestPathMtu)) * reliable);
}

/** iSCSI over TCP: a header of 48 bytes for each PDU of `pdu` bytes of data, all of it in TCP segments. */
export function iscsiEfficiency(wire: Wire, pdu: number): number | null {
  const stream = tcpEfficiency(wire);
  return stream === null ? null : (stream * pdu) / (pdu + basicHeader);
}

/** iSER: data goes by RDMA, a header for each packet of the RDMA MTU; commands are left out (one per block). */
export function iserEfficiency({ kind, rdmaMtu }: Wire): number | null {
  if (rdmaMtu === null || kind === "unknown") return null;
  return rdmaMtu / (rdmaMtu + (kind === "infiniband" ? reliable : roce));
}

export const efficiency = (protocol: "iscsi" | "iser", wire: Wire, blockSize: number): number | null =>
  protocol === "iser" ? iserEfficiency(wire) : iscsiEfficiency(wire, Math.min(blockSize, defaultPdu));
