package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"aai"
	"aai/internal/journal"
	"aai/internal/policy"
	"aai/internal/search"
)

// finder finds tools among the apps, as the person's lists, refusals and habits have it.
func (s *setup) finder(apps func() []*aai.App, store policy.Store, record *journal.Journal, log *slog.Logger) *search.Search {
	return search.New(search.Config{
		Apps: apps, Open: openTools(), Barred: policy.Barred(store, s.lists()), Log: log,
		Favourites: filepath.Join(s.platform.data, "favourites.json"), Ratings: filepath.Join(s.platform.data, "ratings.json"),
		Uses: func(ctx context.Context, since time.Time) ([]search.Use, error) {
			all, err := record.Uses(ctx, since)
			found := make([]search.Use, len(all))
			for i, u := range all {
				found[i] = search.Use(u)
			}
			return found, err
		},
	})
}
