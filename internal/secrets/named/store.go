package named

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Config configures a Store.
type Config struct {
	// File holds the secrets, sealed as a whole. It exists only if there are any, so without secrets no key is read.
	File string
	// FilledFile holds the values of references that were filled lately, sealed; "" shares none between processes.
	FilledFile string
	// Seal and Open seal and open the content of File.
	Seal, Open func(ctx context.Context, content []byte) ([]byte, error)
	// Environ returns the environment for the commands of password managers.
	Environ func() []string
	// AskValue asks the person for a value, in a window or at a terminal. The answer never passes through an agent.
	AskValue func(ctx context.Context, call *aai.Call, request ValueRequest) (string, error)
	// Values gets all values that this process knows. Nil: a set of its own.
	Values *sanitize.SecretSet
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: nowhere
}

// A ValueRequest asks the person for the value of a secret.
type ValueRequest struct {
	Name, For, Field string
	IsCode           bool // the value is the seed of one-time codes
}

// A record is a secret as the file holds it.
type record struct {
	Name    string            `json:"name"`
	Binding aai.SecretBinding `json:"binding"`
	IsCode  bool              `json:"totp,omitempty"`
	Ref     string            `json:"ref,omitempty"`   // of a password manager; "" for a kept value
	Value   string            `json:"value,omitempty"` // kept here
	Set     time.Time         `json:"set"`
}

// use returns the secret as calls see it.
func (r *record) use() aai.SecretUse {
	b, _ := json.Marshal([]any{r.Name, r.Binding, r.IsCode, r.Ref}) // texts can always be encoded
	sum := sha256.Sum256(b)
	return aai.SecretUse{Name: r.Name, Binding: r.Binding, IsCode: r.IsCode, Digest: hex.EncodeToString(sum[:])}
}

// A Store holds the secrets. It implements gateway.PersonSecrets, and is safe for concurrent use, also by several
// processes.
type Store struct {
	config Config
	values *sanitize.SecretSet // all values that this process knows

	mu         sync.Mutex
	seen       fs.FileInfo // the file that records came from; nil: none
	records    []record
	filledSeen fs.FileInfo      // FilledFile as it was read
	steps      map[string]int64 // by the name of a seed kept here: the last period with its code in values
}

// New returns a store. It opens no file.
func New(c Config) *Store {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Values == nil {
		c.Values = new(sanitize.SecretSet)
	}
	return &Store{config: c, values: c.Values, steps: make(map[string]int64)}
}

// maxFile limits the size of the file.
const maxFile = 4 << 20

func fileLimits() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: maxFile, Private: true} }

// load returns the records, and reads them again after a change of the file.
func (s *Store) load(ctx context.Context) ([]record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Lstat(s.config.File)
	if errors.Is(err, fs.ErrNotExist) {
		s.seen, s.records = nil, nil
		return nil, nil
	}
	if err == nil && s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) && info.Size() == s.seen.Size() {
		return s.records, nil
	}
	if err == nil {
		var content []byte
		if content, err = atomicfile.Read(s.config.File, fileLimits()); err == nil {
			s.records, err = s.decode(ctx, content)
		}
	}
	if err != nil {
		s.seen = nil
		return nil, unreadable(err)
	}
	s.seen = info
	for _, r := range s.records {
		s.values.Add(r.Value)
		if one, err := parseSeed(r.Value); r.IsCode && err == nil {
			s.values.Add(string(one.key))
		}
	}
	return s.records, nil
}

// decode opens and reads the content of the file.
func (s *Store) decode(ctx context.Context, content []byte) (records []record, err error) {
	if content, err = s.config.Open(ctx, content); err != nil {
		return nil, err
	}
	err = json.Unmarshal(content, &records)
	return records, err
}

func unreadable(err error) error {
	e := aai.Errorf(aai.AutomationFailed, "the secrets cannot be read: %w", err)
	e.Delivery, e.Hint = aai.NotDelivered, "aai-gateway keychain status says whether the key is there. Without it, remove the file secrets.sealed and set the secrets again."
	return e
}

// change changes the records in the file. Without records it removes the file.
func (s *Store) change(ctx context.Context, edit func([]record) ([]record, error)) error {
	removed := false
	err := atomicfile.Update(ctx, s.config.File, fileLimits(), func(old []byte) ([]byte, error) {
		var records []record
		if len(old) > 0 {
			var err error
			if records, err = s.decode(ctx, old); err != nil {
				return nil, unreadable(err)
			}
		}
		records, err := edit(records)
		if err != nil {
			return nil, err
		}
		removed = len(records) == 0
		content, err := json.Marshal(records)
		if err != nil {
			return nil, err
		}
		return s.config.Seal(ctx, content)
	})
	if err == nil && removed {
		err = os.Remove(s.config.File)
	}
	return unsealable(err)
}

// unsealable returns the error of sealing for people.
func unsealable(err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	e := aai.Errorf(aai.AutomationNotSupported, "secrets are kept sealed, and nothing can be sealed here: %w", err)
	e.Delivery, e.Hint = aai.NotDelivered, "Make a place for the key of secrets; aai-gateway keychain status says how."
	return e
}

// find returns the record with the name.
func (s *Store) find(ctx context.Context, name string) (*record, error) {
	records, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(records, func(r record) bool { return r.Name == name }); i >= 0 {
		return &records[i], nil
	}
	e := aai.Errorf(aai.InvalidParams, "there is no secret with the name %s", aai.CleanLabel(name, maxName))
	e.Delivery, e.Hint = aai.NotDelivered, "The tool secrets lists them. The person sets one: aai-gateway secret set NAME --for https://…, or desktop/PROGRAM for its windows"
	for _, r := range records {
		e.Candidates = append(e.Candidates, r.Name)
	}
	return nil, e
}

// Use returns the secret with the name.
func (s *Store) Use(ctx context.Context, name string) (aai.SecretUse, error) {
	r, err := s.find(ctx, name)
	if err != nil {
		return aai.SecretUse{}, err
	}
	return r.use(), nil
}

// Check returns an error unless the secret is bound to the place.
func (s *Store) Check(use aai.SecretUse, at aai.SecretPlace) error { return check(use, at) }

// Value returns the value for the place, or a one-time code. It fails if the secret is not bound to the place, or if it
// has changed since the use was found.
func (s *Store) Value(ctx context.Context, use aai.SecretUse, at aai.SecretPlace) (string, error) {
	r, err := s.find(ctx, use.Name)
	if err != nil {
		return "", err
	}
	if r.use().Digest != use.Digest {
		e := aai.Errorf(aai.ConsentRequired, "the secret %s was changed meanwhile", use.Name)
		e.Delivery, e.Hint = aai.NotDelivered, "Make the call again; the person is asked about the new place."
		return "", e
	}
	if err := check(r.use(), at); err != nil {
		return "", err
	}
	value := r.Value
	if r.Ref != "" {
		if value, err = s.readReference(ctx, r.Ref); err != nil {
			return "", err
		}
		s.values.Add(value)
		if err = s.share(ctx, value); err != nil {
			return "", unsealable(err)
		}
	}
	if r.IsCode {
		one, err := parseSeed(value)
		if err != nil {
			e := aai.Errorf(aai.AuthInvalid, "the secret %s is no seed of one-time codes: %w", use.Name, err)
			e.Delivery = aai.NotDelivered
			return "", e
		}
		value = one.code(one.step(s.config.Now()))
		s.values.AddRecent(value)
	}
	if strings.ContainsAny(value, "\r\n\t") && at.Argument == "" {
		e := aai.Errorf(aai.InvalidParams, "the secret %s has an end of line or a tab, which are keys in a field", use.Name)
		e.Delivery = aai.NotDelivered
		return "", e
	}
	return value, nil
}

// Redactions returns the values that no reply may contain: those kept in the file, their present one-time codes, and the
// values of references that a gateway of the person has filled lately. It returns nil if there are none. An unreadable file adds none:
// then no process can fill its secrets.
func (s *Store) Redactions(ctx context.Context) *sanitize.SecretSet {
	records, err := s.load(ctx)
	if err != nil {
		s.config.Log.Warn("the person's secrets cannot be read, so they are not removed from replies", "error", err)
	}
	if err := s.recall(ctx); err != nil {
		s.config.Log.Warn("values that other gateways have filled cannot be read, so they are not removed from replies", "error", err)
	}
	for _, r := range records {
		one, err := parseSeed(r.Value)
		if !r.IsCode || err != nil {
			continue
		}
		now := one.step(s.config.Now())
		s.mu.Lock()
		old := s.steps[r.Name]
		s.steps[r.Name] = now
		s.mu.Unlock()
		for step := max(old+1, now-1); step <= now; step++ { // the code of the last period may still count
			s.values.AddRecent(one.code(step))
		}
	}
	return s.values
}
