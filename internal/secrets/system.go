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

// Where the master key is in the keychain of the operating system.
const (
	service = "aai-gateway"
	account = "master"
)

// systemDeadline is how long the keychain may take. One that is locked waits for a
// person to unlock it.
const systemDeadline = 5 * time.Second

// systemRetryDelay is how long a keychain that failed is not asked again: each question to
// one that is locked may open a window, and calls come by the hundred.
const systemRetryDelay = 10 * time.Second

// What a place says that could keep a key.
var (
	errNoKey    = errors.New("it works and has no key")
	errNoAnswer = errors.New("it does not answer; it may be locked and wait for its password")
)

// systemKeychain is the keychain of the operating system, whose library has no deadlines:
// a question to it may stay open for ever. There is at most one of those.
type systemKeychain struct {
	checkReachable func() error // says why nobody is to be asked
	get            func(service, account string) (string, error)
	set            func(service, account, value string) error
	deadline       time.Duration
	retryDelay     time.Duration

	mu       sync.Mutex
	failed   error // what the last question came to, if that was no answer
	failedAt time.Time

	busy      chan struct{} // full while a question is open
	abandoned atomic.Bool   // nobody waits for the open one any more
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

// keep puts the key into the keychain and sees that it is there.
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

// ask puts a question to the keychain, if it is time to. It returns errSilent at
// the deadline, and at once while an earlier question is still open then.
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
			if p := recover(); p != nil { // the library trusts what the other side sends
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

// takeTurn waits until no question is open, but not for one that was given up.
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

// recentFailure returns the last failure while it is fresh.
func (s *systemKeychain) recentFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil && time.Since(s.failedAt) < s.retryDelay {
		return s.failed
	}
	return nil
}

// note remembers a failure and makes its text, which came from another program,
// harmless.
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
