package main

import (
	"path/filepath"

	"github.com/gybob/aai-gateway/internal/config"
)

// settings returns the editor of the configuration. It reads the configuration anew each time, as
// a newly started gateway would.
func (s *setup) settings() *config.Editor {
	return config.NewEditor(config.EditorConfig{
		Running: s.Config, ExitsAfterCall: s.exitsAfterCall, Confirmed: s.confirmed(), BackupPath: filepath.Join(s.platform.data, "settings.before"),
		ReadConfig: func(instead []byte) (*config.Config, error) {
			from := s.input
			from.fileOverride = instead
			now, err := setUp(from)
			if err != nil {
				return nil, err
			}
			return now.Config, nil
		},
	})
}
