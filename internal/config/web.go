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
		{"net.allowPrivate", widensUnlessDefault, nil, func(c *Config) any { return c.AllowedPrivateHosts }, setAllowPrivate},
		{"web.rate", widensIfMore, []string{"AAI_WEB_RATE"}, func(c *Config) any { return c.Web.RequestsPerSecond }, setWebRate},
	}
}

func setWebRate(c *Config, _ string, value any) error {
	n, ok := parseNumber(value)
	if !ok || !(0.1 <= n && n <= maxWebRate) {
		return fmt.Errorf("expected a number of requests a second from 0.1 to %d", maxWebRate)
	}
	c.Web.RequestsPerSecond = n
	return nil
}

func setAllowPrivate(c *Config, _ string, value any) error {
	hosts := []string{}
	if err := setWords(&hosts, `hosts such as "jira.example.com" or "10.1.2.3:8443"`, value); err != nil {
		return err
	}
	for i, host := range hosts {
		if err := netguard.ValidateTrustedHost(host); err != nil {
			return fmt.Errorf(`[%d]: expected a host such as "jira.example.com" or "10.1.2.3:8443": %w`, i, err)
		}
	}
	c.AllowedPrivateHosts = hosts
	return nil
}
