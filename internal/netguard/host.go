package netguard

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// A Host is the host and port of a request, in the canonical form for comparison, storage and
// display. The zero Host is invalid.
type Host struct {
	name string // lower case ASCII: a DNS name without the final dot, or an IP address
	port uint16
}

// The default ports of the web.
const (
	httpPort  = 80
	httpsPort = 443
)

// maxName is the longest DNS name in bytes, RFC 1035, section 2.3.4.
const maxName = 253

// ParseHost parses "host" or "host:port"; the default port is 443. A name is converted to lower
// case and, if it is not ASCII, to punycode (IDNA 2008, as browsers look names up). An IPv6
// address must be in brackets. It rejects numbers that some resolvers treat as addresses
// ("0177.0.0.1", "2130706433", "0x7f.1"), and addresses with a zone.
func ParseHost(s string) (Host, error) {
	name, port, err := splitPort(s)
	if err != nil {
		return Host{}, err
	}
	if literal, bracketed := strings.CutPrefix(name, "["); bracketed {
		ip, err := netip.ParseAddr(strings.TrimSuffix(literal, "]"))
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return Host{}, errors.New("expected an IPv6 address in the brackets")
		}
		return Host{name: ip.Unmap().String(), port: port}, nil
	}
	name, err = canonicalName(name)
	return Host{name: name, port: port}, err
}

// splitPort splits off the port, which must be a plain number.
func splitPort(s string) (name string, port uint16, err error) {
	name = s
	if colon := strings.LastIndexByte(s, ':'); colon >= 0 && !strings.HasSuffix(s, "]") {
		n, err := strconv.ParseUint(s[colon+1:], 10, 16)
		if err != nil || n == 0 || s[colon+1] == '0' || s[colon+1] == '+' {
			return "", 0, errors.New("expected a port from 1 to 65535 after the colon")
		}
		return s[:colon], uint16(n), nil
	}
	return name, httpsPort, nil
}

func canonicalName(name string) (string, error) {
	if len(name) > 4*maxName {
		return "", errors.New("the name is too long")
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(name, "."))
	name = strings.ToLower(ascii)
	// The result must be stable under IDNA, or the next parser sees another name.
	if again, failed := idna.Lookup.ToASCII(name); err != nil || failed != nil || again != name {
		return "", errors.New("not a name that DNS can look up")
	}
	if name == "" || len(name) > maxName {
		return "", errors.New("expected a name of at most 253 bytes")
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return "", errors.New("expected letters, digits and hyphens between the dots")
		}
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.String(), nil
	}
	if EndsInNumber(name) {
		return "", errors.New("a number is no name; an address is written as four numbers without leading zeros")
	}
	return name, nil
}

// isLabel rejects "_": no web server's name may contain it (RFC 1123).
func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := range len(label) {
		c := label[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Name returns the name without the port: lower case ASCII, or an IP address without brackets.
func (h Host) Name() string { return h.name }

// Port returns the port.
func (h Host) Port() int { return int(h.port) }

// String returns "host", or "host:port" if the port is not 443.
func (h Host) String() string {
	name := h.name
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if h.port == httpsPort {
		return name
	}
	return name + ":" + strconv.Itoa(int(h.port))
}

// Origin returns "https://host", or "https://host:port".
func (h Host) Origin() string { return "https://" + h.String() }

// IsLoopback reports whether the host name means this computer, regardless of DNS: [IsLoopback]
// holds for it, or it is below "localhost". Developers use such names; their addresses are
// checked at the time of dialing and must be loopback.
func (h Host) IsLoopback() bool {
	return IsLoopback(h.name) || strings.HasSuffix(h.name, ".localhost")
}

// HasPublicSuffix reports whether the name is below a suffix in the public suffix list: one of
// ICANN's registries, such as "com", or of a private owner, such as "github.io".
func (h Host) HasPublicSuffix() bool {
	suffix, icann := publicsuffix.PublicSuffix(h.name)
	return (icann || strings.Contains(suffix, ".")) && suffix != h.name
}

// SameSite reports whether two hosts have one owner: the same registrable domain (public suffix
// plus one) or the same name. Ports are ignored.
func (h Host) SameSite(other Host) bool { return SameSite(h.name, other.name) }
