package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/catalog/search"
	"github.com/gybob/aai-gateway/internal/policy"
)

// newSearch returns the search over the tools of the apps. It respects the user's app lists, refusals and usage.
func (s *setup) newSearch(apps func() []*aai.App, store policy.Store, record *audit.Journal, log *slog.Logger) *search.Search {
	return search.New(search.Config{
		Apps: apps, AgentTools: agentTools(), Denied: policy.DeniedTools(store, s.appLists()), Log: log,
		Favourites: filepath.Join(s.platform.data, "favourites.json"), Ratings: filepath.Join(s.platform.data, "ratings.json"),
		UsageSince: func(ctx context.Context, since time.Time) ([]search.Usage, error) {
			all, err := record.DailyUses(ctx, since)
			found := make([]search.Usage, len(all))
			for i, u := range all {
				found[i] = search.Usage(u)
			}
			return found, err
		},
	})
}
