package config

import (
	"fmt"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// maxWebRate bounds how often a site is asked, in requests a second.
const maxWebRate = 10_000

// Web is how apps on the web are asked.
type Web struct {
	RequestsPerSecond float64 // requests a second to one site, at most; twice as many may go at once
}

func defaultWeb() Web { return Web{RequestsPerSecond: 10} }

// webSettings is the part of the table that is about apps on the web. What may be
// reached is for the person's file alone: no variable or flag of whoever starts the
// program widens it.
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
