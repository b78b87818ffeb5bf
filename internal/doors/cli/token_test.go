package cli_test

import (
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// someTokens are tokens in memory.
type someTokens struct{ names []string }

func (s *someTokens) Add(name string) (string, error) {
	s.names = append(s.names, name)
	return "secret of " + name, nil
}

func (s *someTokens) List() ([]cli.Token, error) {
	list := []cli.Token{}
	for _, name := range s.names {
		list = append(list, cli.Token{Name: name, Identity: "http:" + name, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	}
	return list, nil
}

func (s *someTokens) Revoke(name string) error {
	i := slices.Index(s.names, name)
	if i < 0 {
		return aai.Errorf(aai.InvalidParams, "there is no token %q", name)
	}
	s.names = slices.Delete(s.names, i, i+1)
	return nil
}
