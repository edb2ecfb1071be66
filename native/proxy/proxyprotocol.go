package proxy

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
)

// proxyHeader is the header of the PROXY protocol, version v1 or v2 (HAProxy's
// proxy-protocol.txt, sections 2.1 and 2.2), that tells a backend the two ends
// of the client's connection. Ends that are not TCP over IP are told as
// unknown, which a backend answers by using the connection's own.
func proxyHeader(version string, client, here net.Addr) []byte {
	from, okFrom := addrPort(client)
	to, okTo := addrPort(here)
	known := okFrom && okTo
	if from.Addr().Is4() != to.Addr().Is4() {
		from, to = as6(from), as6(to)
	}
	if version == "v1" {
		return proxyV1(from, to, known)
	}
	return proxyV2(from, to, known)
}

func addrPort(a net.Addr) (netip.AddrPort, bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, false
	}
	p := tcp.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port()), p.IsValid()
}

func as6(p netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(p.Addr().As16()), p.Port())
}

func proxyV1(from, to netip.AddrPort, known bool) []byte {
	if !known {
		return []byte("PROXY UNKNOWN\r\n")
	}
	family := "TCP6"
	if from.Addr().Is4() {
		family = "TCP4"
	}
	return fmt.Appendf(nil, "PROXY %s %s %s %d %d\r\n", family, from.Addr(), to.Addr(), from.Port(), to.Port())
}

// signature begins every header of version 2; no other protocol begins so.
const signature = "\r\n\r\n\x00\r\nQUIT\n"

// The bytes after it: version 2 and the command PROXY or LOCAL, and the family.
const (
	v2Local = 0x20
	v2Proxy = 0x21
	v2TCP4  = 0x11
	v2TCP6  = 0x21
)

func proxyV2(from, to netip.AddrPort, known bool) []byte {
	if !known {
		return append([]byte(signature), v2Local, 0, 0, 0)
	}
	family := byte(v2TCP6)
	if from.Addr().Is4() {
		family = v2TCP4
	}
	var body []byte
	body = append(body, from.Addr().AsSlice()...)
	body = append(body, to.Addr().AsSlice()...)
	body = binary.BigEndian.AppendUint16(body, from.Port())
	body = binary.BigEndian.AppendUint16(body, to.Port())
	head := append([]byte(signature), v2Proxy, family)
	head = binary.BigEndian.AppendUint16(head, uint16(len(body)))
	return append(head, body...)
}
