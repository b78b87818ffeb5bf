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

// testHost is the host access for tests of other things: the given home is the account's, the
// session is the environment's, and a user has confirmed its settings. The released program
// contains none of it.
func testHost(getenv func(string) string) hostAccess {
	return hostAccess{
		home:       func() string { return getenv("HOME") },
		session:    func(getenv func(string) string) func(string) string { return getenv },
		confirmed:  func(reauth.Setting) aai.Channel { return aai.DesktopDialog },
		checkOwned: userinfo.CheckOwned,
	}
}

// testBinaryHost is the host access of this test binary as the program: PERSON=yes is a user who
// approves changes of the gateway, STRICT=1 is as released, except for the account's home; WHOLE=1
// also checks for isolation.
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

// agreeingPerson approves changes of the gateway, and answers nothing else.
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
