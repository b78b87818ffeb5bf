package main

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets"
	"github.com/gybob/aai-gateway/internal/vision/model"
)

// desktopDependencies are what the desktop's tools need of the rest of the program.
type desktopDependencies struct {
	modes   *policy.ModeGate
	vault   *secrets.Vault
	model   *model.Service
	gateway func() *gateway.Gateway
}

// visionModel returns the model for pictures. Its own client also reaches the model's server on this computer.
func (s *setup) visionModel(logins *oauth.Authorizer, getenv func(string) string) *model.Service {
	cfg := model.Config{
		Backend: s.Vision.Backend, Model: s.Vision.Model, BaseURL: s.Vision.BaseURL, InputPrice: s.Vision.InputPrice, OutputPrice: s.Vision.OutputPrice,
		Keys: logins, Getenv: getenv,
	}
	hosts := s.AllowedPrivateHosts
	if local := model.New(cfg).LocalHost(); local != "" {
		hosts = append(slices.Clone(hosts), local)
	}
	cfg.Client = netguard.New(netguard.Config{AllowPrivate: hosts, RootCAs: s.roots}).HTTP()
	return model.New(cfg)
}
