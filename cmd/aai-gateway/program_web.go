package main

import (
	"maps"
	"net/http"
	"time"

	"aai"
	"aai/internal/drivers/webapi"
)

// withWeb adds to a platform's drivers the one for web apps, which is the same
// everywhere.
func withWeb(drivers map[string]aai.Driver) map[string]aai.Driver {
	all := maps.Clone(drivers)
	if all == nil {
		all = make(map[string]aai.Driver)
	}
	all["http"] = webapi.New(webapi.Config{Client: webClient()})
	return all
}

// webClient is the way out to the web: no proxy that would hide where a request
// goes, and no redirect.
func webClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
