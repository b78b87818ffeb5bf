package secrets

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/gybob/aai-gateway"
)

// The item of the master key in the keychain of the operating system.
const (
	service = "aai-gateway"
	account = "master"
)

// systemDeadline is the limit for the keychain. A locked keychain waits for the person to
// unlock it.
const systemDeadline = 5 * time.Second

// systemRetryDelay is the time without requests after a failure: each request to a locked
// keychain may open a window, and calls come by the hundred.
const systemRetryDelay = 10 * time.Second

// The errors of a place that could store a key.
var (
	errNoKey    = errors.New("it works and has no key")
	errNoAnswer = errors.New("it does not answer; it may be locked and wait for its password")
)

// systemKeychain is the keychain of the operating system. Its library has no deadlines, so
// a request may stay open forever. There is at most one open request.
type systemKeychain struct {
	checkReachable func() error // returns why no request can be made
	get            func(service, account string) (string, error)
	set            func(service, account, value string) error
	deadline       time.Duration
	retryDelay     time.Duration

	mu       sync.Mutex
	failed   error // the error of the last request, if it failed
	failedAt time.Time

	busy      chan struct{} // full while a request is open
	abandoned atomic.Bool   // the caller of the open request has given up
}

func newSystem(getenv func(string) string) *systemKeychain {
	return &systemKeychain{
		checkReachable: func() error { return reachable(getenv) },
		get:            keyring.Get, set: keyring.Set,
		deadline: systemDeadline, retryDelay: systemRetryDelay, busy: make(chan struct{}, 1),
	}
}

// key returns the master key, or errNoKey.
func (s *systemKeychain) key(ctx context.Context) ([]byte, error) {
	text, err := s.ask(ctx, func() (string, error) { return s.get(service, account) })
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, errNoKey
	}
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("its item %s/%s holds no key of this gateway", service, account)
	}
	return key, nil
}

// keep stores the key in the keychain and verifies it.
func (s *systemKeychain) keep(ctx context.Context, key []byte) error {
	text := base64.StdEncoding.EncodeToString(key)
	_, err := s.ask(ctx, func() (string, error) { return "", s.set(service, account, text) })
	if err != nil {
		return err
	}
	kept, err := s.key(ctx)
	if err != nil {
		return fmt.Errorf("it did not keep the key: %w", err)
	}
	if string(kept) != string(key) {
		return errors.New("it gives back another key than it was given")
	}
	return nil
}

// ask sends a request to the keychain, unless one failed recently. It returns errNoAnswer
// at the deadline, and at once while an abandoned request is still open.
func (s *systemKeychain) ask(ctx context.Context, question func() (string, error)) (string, error) {
	if err := s.checkReachable(); err != nil {
		return "", err
	}
	if err := s.recentFailure(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	if err := s.takeTurn(ctx); err != nil {
		return "", err
	}
	type answer struct {
		text string
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil { // the library trusts the other side's data
				a = answer{err: fmt.Errorf("it answered what cannot be understood: %v", p)}
			}
			answered <- a
			<-s.busy
		}()
		a.text, a.err = question()
	}()
	select {
	case a := <-answered:
		return a.text, s.note(a.err)
	case <-ctx.Done():
		s.abandoned.Store(true)
		return "", contextError(ctx)
	}
}

// takeTurn waits until no request is open. It does not wait for an abandoned request.
func (s *systemKeychain) takeTurn(ctx context.Context) error {
	if s.abandoned.Load() {
		select {
		case s.busy <- struct{}{}:
			s.abandoned.Store(false)
			return nil
		default:
			return errNoAnswer
		}
	}
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}

func contextError(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return errNoAnswer
}

// recentFailure returns the last failure during the retry delay.
func (s *systemKeychain) recentFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil && time.Since(s.failedAt) < s.retryDelay {
		return s.failed
	}
	return nil
}

// note records a failure and cleans its text, which came from another program.
func (s *systemKeychain) note(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return err
	}
	if err != nil {
		err = errors.New(aai.CleanLabel(err.Error(), 200))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed, s.failedAt = err, time.Now()
	return err
}
