package netguard

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// IsLoopback reports whether a host is certainly this computer, unreachable for others and not
// spoofable by DNS. Use it before allowing something. Hosts are given without a port, a final dot
// and brackets, in any case. It is safe for concurrent use.
//
// It returns false for names below "localhost", which some resolvers resolve elsewhere.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Zone() == "" && address.IsLoopback()
}

// MightBeLoopback reports whether any resolver, browser, system or hosts file treats a host as
// this computer. Use it before rejecting something. Hosts may have brackets, a zone and a final
// dot. It is safe for concurrent use.
//
// The addresses of other names must be checked at the time of dialing.
func MightBeLoopback(host string) bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(host, "[]")), "%")
	if address, err := netip.ParseAddr(name); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsUnspecified() // connecting to the unspecified address reaches this computer
	}
	name = strings.TrimRight(name, ".")
	return name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || EndsInNumber(name) ||
		slices.Contains([]string{ // in the hosts files of Debian and Fedora
			"ip6-localhost", "ip6-loopback", "localhost4", "localhost6",
			"localhost.localdomain", "localhost4.localdomain4", "localhost6.localdomain6",
		}, name)
}

// CrossesToLoopback reports whether the host to may be this computer although from, the host that
// names it, is another one: third parties must not send calls to local servers.
func CrossesToLoopback(from, to string) bool {
	return MightBeLoopback(to) && !IsLoopback(from) && !strings.EqualFold(from, to)
}

// EndsInNumber reports whether some resolver treats a name in lower case as an IPv4 address in
// any notation: "127.1", "0177.0.0.1", "2130706433", "0x7f.1" (the WHATWG URL Standard, "ends in
// a number").
func EndsInNumber(name string) bool {
	label := name[strings.LastIndexByte(name, '.')+1:]
	if _, err := strconv.ParseUint(label, 0, 64); err == nil {
		return true
	}
	digits, hex := strings.CutPrefix(label, "0x")
	if hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
