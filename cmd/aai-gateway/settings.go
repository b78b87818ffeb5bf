package main

import (
	"path/filepath"

	"aai/internal/config"
	"aai/internal/settings"
)

// settings shows and changes what is configured. The configuration is read anew each time: as
// a gateway that is started now would have it.
func (s *setup) settings() *settings.Room {
	return settings.New(settings.Config{
		Running: s.Config, Brief: s.brief, Confirmed: s.confirmed(), Before: filepath.Join(s.platform.data, "settings.before"),
		Read: func(instead []byte) (*config.Config, error) {
			from := s.from
			from.instead = instead
			now, err := setUp(from)
			if err != nil {
				return nil, err
			}
			return now.Config, nil
		},
	})
}
