package main

import (
	"slices"

	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
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
	leases  *active.LeaseStore
}

// visionModel returns the model for pictures. Its own client also reaches the model's server on this computer.
func (s *setup) visionModel(logins *oauth.Authorizer, getenv func(string) string) *model.Service {
	cfg := s.modelConfig(getenv)
	cfg.Keys = logins
	hosts := s.AllowedPrivateHosts
	if local := model.New(cfg).LocalHost(); local != "" {
		hosts = append(slices.Clone(hosts), local)
	}
	cfg.Client = netguard.New(netguard.Config{AllowPrivate: hosts, RootCAs: s.roots}).HTTP()
	return model.New(cfg)
}

// modelConfig returns the settings of the model.
func (s *setup) modelConfig(getenv func(string) string) model.Config {
	return model.Config{
		Backend: s.Vision.Backend, Model: s.Vision.Model, BaseURL: s.Vision.BaseURL, InputPrice: s.Vision.InputPrice, OutputPrice: s.Vision.OutputPrice,
		Getenv: getenv,
	}
}

// doctorModel describes the model for the doctor; s may be nil.
func (s *setup) doctorModel(getenv func(string) string) doctor.Model {
	if s == nil {
		return doctor.Model{Text: "unknown", HasKey: true}
	}
	m := model.New(s.modelConfig(getenv))
	d := doctor.Model{Text: m.String(), HasKey: true}
	if r := m.Login("vlm:" + m.Backend()); r != nil {
		d.Login, d.HasKey = r.App, m.KeyVariable() != ""
	}
	return d
}
