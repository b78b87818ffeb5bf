package config

import (
	"fmt"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// maxWebRate bounds the requests a second to a site.
const maxWebRate = 10_000

// Web configures requests to web apps.
type Web struct {
	RequestsPerSecond float64 // maximum for one site; bursts may be twice as large
}

func defaultWeb() Web { return Web{RequestsPerSecond: 10} }

// webSettings returns the settings about web apps. Reachable hosts are set in the person's file
// only: no variable or flag of the starting process widens them.
func webSettings() []settingSpec {
	return []settingSpec{
		{"net.allowPrivate", "hosts on private networks that may be asked", widensUnlessDefault, nil,
			valueOf(KindList, func(c *Config) *[]string { return &c.AllowedPrivateHosts }, parseHosts)},
		{"web.rate", "requests a second to one site at most, 0.1 to 10000; twice as many may go at once", widensIfMore,
			[]string{"AAI_WEB_RATE"},
			valueOf(KindNumber, func(c *Config) *float64 { return &c.Web.RequestsPerSecond }, parseRate)},
	}
}

func parseRate(value any) (float64, error) {
	n, ok := parseNumber(value)
	if !ok || !(0.1 <= n && n <= maxWebRate) {
		return 0, fmt.Errorf("expected a number of requests a second from 0.1 to %d", maxWebRate)
	}
	return n, nil
}

func parseHosts(value any) ([]string, error) {
	hosts, err := parseWords(`hosts such as "jira.example.com" or "10.1.2.3:8443"`, value)
	for i, host := range hosts {
		if err := netguard.ValidateTrustedHost(host); err != nil {
			return nil, fmt.Errorf(`[%d]: expected a host such as "jira.example.com" or "10.1.2.3:8443": %w`, i, err)
		}
	}
	return hosts, err
}
