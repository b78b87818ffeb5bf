package main

import (
	"maps"
	"net/http"

	"aai"
	"aai/internal/drivers/webapi"
)

// withWeb adds to a platform's drivers the one for web apps, which is the same
// everywhere.
func withWeb(drivers map[string]aai.Driver, client *http.Client, logins webapi.Authorizer, c webConfig) map[string]aai.Driver {
	all := maps.Clone(drivers)
	if all == nil {
		all = make(map[string]aai.Driver)
	}
	all["http"] = webapi.New(webapi.Config{Client: client, Login: logins, Rate: c.Rate, Burst: max(int(2*c.Rate), 1)})
	return all
}
