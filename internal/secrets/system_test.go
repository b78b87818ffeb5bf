package secrets

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestSilentKeychain checks that a silent keychain costs five seconds, once, and is used
// again as soon as it answers.
func TestSilentKeychain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, unlocked := newMemoryKeychain(), make(chan struct{})
		s := memory.system(nil)
		var open atomic.Int32
		s.get = func(service, account string) (string, error) {
			open.Add(1)
			<-unlocked
			return memory.get(service, account)
		}
		begun := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := s.key(t.Context())
				assert.Check(t, is.ErrorIs(err, errNoAnswer), "%v; expected to hear that it is silent", err)
			})
		}
		wg.Wait()
		if took := time.Since(begun); took != systemDeadline || open.Load() != 1 {
			t.Errorf("%d questions are open after %s", open.Load(), took)
		}
		_, err := s.key(t.Context())
		assert.Assert(t, is.ErrorIs(err, errNoAnswer))
		assert.Equal(t, time.Since(begun), systemDeadline)
		close(unlocked)
		synctest.Wait()
		_, err = s.key(t.Context())
		assert.Check(t, is.ErrorIs(err, errNoKey), "%v; expected that it is asked again", err)
	})
}

// TestCallerGivesUp checks that a cancelled request does not count as a failure of the keychain.
func TestCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, answer := newMemoryKeychain().system(nil), make(chan struct{})
		s.get = func(string, string) (string, error) { <-answer; return "", keyring.ErrNotFound }
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		_, err := s.key(ctx)
		assert.Check(t, is.ErrorIs(err, context.Canceled))
		close(answer)
		synctest.Wait()
		_, err = s.key(t.Context())
		assert.Check(t, is.ErrorIs(err, errNoKey))
	})
}

// TestFailingKeychainRests checks the delay after a failure: each request may open a
// window.
func TestFailingKeychainRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newMemoryKeychain()
		memory.err = errors.New("dismissed \x1b[31m\u202eby the person")
		s := memory.system(nil)
		for range 100 {
			_, err := s.key(t.Context())
			assert.Assert(t, err != nil, err)
			assert.Equal(t, err.Error(), "dismissed [31mby the person", err)
		}
		assert.Check(t, is.Equal(memory.asked, 1), "asked %d times", memory.asked)
		memory.err = nil
		time.Sleep(systemRetryDelay)
		_, err := s.key(t.Context())
		assert.Assert(t, is.ErrorIs(err, errNoKey))
		assert.Equal(t, memory.asked, 2)
	})
}

// TestKeychainPanics checks that a panic of the library is an error.
func TestKeychainPanics(t *testing.T) {
	s := newMemoryKeychain().system(nil)
	s.get = func(string, string) (string, error) { panic("interface conversion") }
	_, err := s.key(t.Context())
	assert.Check(t, is.ErrorContains(err, "cannot be understood: interface conversion"))
}

// TestForeignItem checks that an item that is not this gateway's key is not replaced.
func TestForeignItem(t *testing.T) {
	for name, item := range map[string]string{"empty": "", "text": "hunter2", "short": base64.StdEncoding.EncodeToString(make([]byte, 31))} {
		memory := newMemoryKeychain()
		memory.items["aai-gateway/master"] = item
		v := newVault(t)
		v.system, v.insecureAllowed = memory.system(nil), false
		e := refusal(t, v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("b"), nil }), aai.AutomationNotSupported)
		assert.Assert(t, is.Contains(e.Message, "aai-gateway/master holds no key"), "%s %v", name, e)
		assert.Equal(t, memory.items["aai-gateway/master"], item, "%s %v", name, e)
	}
}

// TestForgetfulKeychain checks that a keychain that does not store the key is not used.
func TestForgetfulKeychain(t *testing.T) {
	for name, set := range map[string]func(*fakeKeychain) func(string, string, string) error{
		"forgets": func(*fakeKeychain) func(string, string, string) error {
			return func(string, string, string) error { return nil }
		},
		"mixes up": func(m *fakeKeychain) func(string, string, string) error {
			return func(service, account, _ string) error {
				return m.set(service, account, base64.StdEncoding.EncodeToString(make([]byte, keySize)))
			}
		},
		"refuses": func(*fakeKeychain) func(string, string, string) error {
			return func(string, string, string) error { return keyring.ErrSetDataTooBig }
		},
	} {
		memory := newMemoryKeychain()
		v := newVault(t)
		v.system, v.insecureAllowed = memory.system(nil), false
		v.system.set = set(memory)
		refuses(t, v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("b"), nil }), aai.AutomationNotSupported)
		l, err := v.label()
		assert.Assert(t, l == nil, "%s: there is a vault: %+v, %v", name, l, err)
		assert.NilError(t, err, "%s %+v", name, l)
	}
}
