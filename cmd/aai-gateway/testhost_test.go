package main

import (
	"context"
	"errors"
	"os"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/policy/reauth"
)

// testHost is what the program stands on in tests that are about something else: the home
// that it is given is the account's, the session is the environment's, and a person has
// confirmed its settings. None of it can be had of the program that people get.
func testHost(getenv func(string) string) hostAccess {
	return hostAccess{
		home:       func() string { return getenv("HOME") },
		session:    func(getenv func(string) string) func(string) string { return getenv },
		confirmed:  func(reauth.Setting) aai.Channel { return aai.DesktopDialog },
		checkOwned: userinfo.CheckOwned,
	}
}

// testBinaryHost is what this test binary stands on as the program: PERSON=yes is one who wants
// what is done to the gateway, and STRICT=1 is as for people, but for the account's home;
// with WHOLE=1 it looks whether it sees the whole computer.
func testBinaryHost() hostAccess {
	g := testHost(os.Getenv)
	if os.Getenv("STRICT") != "" {
		g.confirmed, g.policy = nil, func() ([]byte, error) {
			b, err := os.ReadFile(os.Getenv("POLICY"))
			if errors.Is(err, os.ErrNotExist) {
				return nil, nil
			}
			return b, err
		}
	}
	if os.Getenv("WHOLE") != "" {
		g.isolationFault = userinfo.CheckUserNamespace
	}
	if os.Getenv("PERSON") == "yes" {
		g.person = func() (policy.Authenticator, aai.Asker) { return agreeingPerson{}, agreeingPerson{} }
	}
	return g
}

// agreeingPerson is a person who wants what is done to the gateway, and answers nothing else.
type agreeingPerson struct{}

func (agreeingPerson) Method(context.Context) aai.Channel { return aai.DesktopDialog }

func (agreeingPerson) CheckPassphrase(context.Context, string) error {
	return errors.New("no passphrase was set")
}

func (agreeingPerson) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	if q.ID != "proof" {
		return aai.Answer{}, errors.New("there is no screen")
	}
	return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}
