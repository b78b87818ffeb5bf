package netguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// dialTimeout is the limit for opening a connection.
const dialTimeout = 10 * time.Second

// errMetadataAddress is the reason for rejecting an address of a cloud metadata service.
var errMetadataAddress = errors.New("prohibited IP address: it serves a machine's own credentials")

// A trust is the level of a person's trust in a host.
type trust int

const (
	publicHost   trust = iota // public addresses, ports 80 and 443
	loopbackHost              // this computer, at the given port
	trustedHost               // private networks too, at the given port
)

// A guard decides which addresses may be dialed for a host. It is immutable.
type guard struct {
	trustLoopback    bool
	trusted          map[Host]bool
	resolver         *net.Resolver
	metadataPrefixes []netip.Prefix
}

func newGuard(c Config) guard {
	g := guard{trustLoopback: c.TrustLoopback, trusted: make(map[Host]bool), resolver: c.Resolver,
		metadataPrefixes: metadataAddresses()}
	for _, entry := range c.AllowPrivate {
		hosts, err := parseTrusted(entry)
		if err != nil {
			continue // an invalid entry has no effect
		}
		for _, h := range hosts {
			g.trusted[h] = true
		}
	}
	return g
}

// ValidateTrustedHost returns an error for an invalid entry of Config.AllowPrivate.
func ValidateTrustedHost(entry string) error {
	_, err := parseTrusted(entry)
	return err
}

// parseTrusted parses "host", which means the ports 80 and 443, or "host:port".
func parseTrusted(entry string) ([]Host, error) {
	h, err := ParseHost(entry)
	if err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(entry); err == nil {
		return []Host{h}, nil
	}
	return []Host{{h.name, httpsPort}, {h.name, httpPort}}, nil
}

// trust returns the trust level of a host.
func (g guard) trust(h Host) trust {
	switch {
	case h.IsLoopback() && (g.trustLoopback || g.trusted[h]):
		return loopbackHost
	case g.trusted[h]:
		return trustedHost
	}
	return publicHost
}

// dial connects to an admitted address of the host. The check is part of dialing, so it applies
// to the address in use, regardless of later DNS answers.
func (g guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	h, err := ParseHost(address)
	if err != nil {
		return nil, &failureCause{kind: refusedByGuard, cause: err}
	}
	known := guardianFor(g.trust(h), h.port)
	dialer := &net.Dialer{
		Timeout:  dialTimeout,
		Resolver: g.resolver,
		Control: func(network, address string, conn syscall.RawConn) error {
			if err := g.rejectMetadataAddress(address); err != nil {
				return err
			}
			return known.Safe(network, address, conn)
		},
	}
	return dialer.DialContext(ctx, network, address)
}

// guardianFor returns the permitted addresses and ports for a trust level. All other special
// addresses of the IANA registries (link local, NAT64, 6to4 and the rest) are rejected even for
// trusted hosts.
func guardianFor(t trust, port uint16) *ssrf.Guardian {
	switch t {
	case loopbackHost:
		return ssrf.New(ssrf.WithPorts(port),
			ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.0/8")),
			ssrf.WithAllowedV6Prefixes(netip.MustParsePrefix("::1/128")),
			ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("0.0.0.0/0")),
			ssrf.WithDeniedV6Prefixes(netip.MustParsePrefix("::/0")))
	case trustedHost:
		return ssrf.New(ssrf.WithPorts(port),
			ssrf.WithAllowedV4Prefixes(
				netip.MustParsePrefix("127.0.0.0/8"),
				netip.MustParsePrefix("10.0.0.0/8"),
				netip.MustParsePrefix("172.16.0.0/12"),
				netip.MustParsePrefix("192.168.0.0/16"),
				netip.MustParsePrefix("100.64.0.0/10")),
			ssrf.WithAllowedV6Prefixes(
				netip.MustParsePrefix("::1/128"),
				netip.MustParsePrefix("fc00::/7")))
	case publicHost:
	}
	return ssrf.New(ssrf.WithPorts(httpPort, httpsPort))
}

// rejectMetadataAddress rejects the addresses that give cloud machines their credentials.
func (g guard) rejectMetadataAddress(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap().WithZone("")
	for _, p := range g.metadataPrefixes {
		if p.Contains(ip) {
			return errMetadataAddress
		}
	}
	return nil
}

// metadataAddresses returns the addresses of metadata services: AWS, Azure, Google, DigitalOcean,
// OpenStack and others (169.254.169.254 and its neighbours for containers), Alibaba
// (100.100.100.200), Oracle (192.0.0.192), Azure's host agent (168.63.129.16, a public address),
// and their IPv6 forms.
func metadataAddresses() []netip.Prefix {
	const all = "169.254.0.0/16 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32 " +
		"fe80::/10 fd00:ec2::/32 fd20:ce::/32 fd00:c1::a9fe:a9fe/128"
	var prefixes []netip.Prefix
	for p := range strings.FieldsSeq(all) {
		prefixes = append(prefixes, netip.MustParsePrefix(p))
	}
	return prefixes
}
