package config

import (
	"fmt"

	"aai/internal/egress"
)

// maxWebRate bounds how often a site is asked, in requests a second.
const maxWebRate = 10_000

// Web is how apps on the web are asked.
type Web struct {
	Rate float64 // requests a second to one site, at most; twice as many may go at once
}

func defaultWeb() Web { return Web{Rate: 10} }

// webSettings is the part of the table that is about apps on the web. What may be
// reached is for the person's file alone: no variable or flag of whoever starts the
// program widens it.
func webSettings() []row {
	return []row{
		{"net.allowPrivate", otherwise, nil, func(c *Config) any { return c.AllowPrivate }, setAllowPrivate},
		{"web.rate", whenMore, []string{"AAI_WEB_RATE"}, func(c *Config) any { return c.Web.Rate }, setWebRate},
	}
}

func setWebRate(c *Config, _ string, value any) error {
	n, ok := number(value)
	if !ok || !(0.1 <= n && n <= maxWebRate) {
		return fmt.Errorf("expected a number of requests a second from 0.1 to %d", maxWebRate)
	}
	c.Web.Rate = n
	return nil
}

func setAllowPrivate(c *Config, _ string, value any) error {
	hosts := []string{}
	if err := setWords(&hosts, `hosts such as "jira.example.com" or "10.1.2.3:8443"`, value); err != nil {
		return err
	}
	for i, host := range hosts {
		if err := egress.CheckTrusted(host); err != nil {
			return fmt.Errorf(`[%d]: expected a host such as "jira.example.com" or "10.1.2.3:8443": %w`, i, err)
		}
	}
	c.AllowPrivate = hosts
	return nil
}
