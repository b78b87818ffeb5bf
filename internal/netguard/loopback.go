package netguard

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// IsLoopback reports whether a host is this computer alone, for certain: what listens there
// is reached by nobody else, and by no name that a stranger points here. It is asked
// before something is allowed. Hosts come without a port, a last dot and brackets, in any
// case. Safe for concurrent use.
//
// A name below "localhost" is none: not every resolver keeps it here.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Zone() == "" && address.IsLoopback()
}

// MightBeLoopback reports whether anything takes a host for this computer: some resolver,
// browser, system or table of hosts. It is asked before something is refused. Hosts may
// come with brackets, a zone and a last dot. Safe for concurrent use.
//
// Where an address leads that looks like none of this computer, whoever dials it must ask.
func MightBeLoopback(host string) bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(host, "[]")), "%")
	if address, err := netip.ParseAddr(name); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsUnspecified() // to connect to "any" is to connect here
	}
	name = strings.TrimRight(name, ".")
	return name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") || EndsInNumber(name) ||
		slices.Contains([]string{ // in the tables of hosts of Debian and Fedora
			"ip6-localhost", "ip6-loopback", "localhost4", "localhost6",
			"localhost.localdomain", "localhost4.localdomain4", "localhost6.localdomain6",
		}, name)
}

// CrossesToLoopback reports whether a host that is not this computer names one that may be: a
// stranger must not send calls to what listens here. A host may name itself.
func CrossesToLoopback(from, to string) bool {
	return MightBeLoopback(to) && !IsLoopback(from) && !strings.EqualFold(from, to)
}

// EndsInNumber reports whether a name in lower case is an IPv4 address to some resolver,
// however it is written: "127.1", "0177.0.0.1", "2130706433", "0x7f.1" (the WHATWG URL
// Standard, "ends in a number").
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
