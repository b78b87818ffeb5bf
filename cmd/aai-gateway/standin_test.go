package main

import (
	"context"
	"errors"
	"os"

	"aai"
	"aai/internal/account"
	"aai/internal/policy"
	"aai/internal/proof"
)

// standIn is what the program stands on in tests that are about something else: the home
// that it is given is the account's, the session is the environment's, and a person has
// confirmed its settings. None of it can be had of the program that people get.
func standIn(getenv func(string) string) grounds {
	return grounds{
		home:      func() string { return getenv("HOME") },
		session:   func(getenv func(string) string) func(string) string { return getenv },
		confirmed: func(proof.Setting) aai.Channel { return aai.Native },
		mine:      account.Mine,
	}
}

// ofTests is what this test binary stands on as the program: PERSON=yes is one who wants
// what is done to the gateway, and STRICT=1 is as for people, but for the account's home;
// with WHOLE=1 it looks whether it sees the whole computer.
func ofTests() grounds {
	g := standIn(os.Getenv)
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
		g.whole = account.WholeComputer
	}
	if os.Getenv("PERSON") == "yes" {
		g.person = func() (policy.Person, aai.Asker) { return willing{}, willing{} }
	}
	return g
}

// willing is a person who wants what is done to the gateway, and answers nothing else.
type willing struct{}

func (willing) Way(context.Context) aai.Channel { return aai.Native }

func (willing) Check(context.Context, string) error { return errors.New("no passphrase was set") }

func (willing) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	if q.ID != "proof" {
		return aai.Answer{}, errors.New("there is no screen")
	}
	return aai.Answer{Choice: "yes", Seal: q.Seal, Channel: aai.Native}, nil
}
