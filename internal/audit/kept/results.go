package kept

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/files/diskspace"
)

// Limits of stored data, in bytes.
const (
	maxResult     = 256 << 10 // default for one result; of a longer one only the length is stored
	MaxTotalBytes = 256 << 20 // all results, beside cleanBytes; the oldest are deleted
)

// The checks for expired results and for MaxTotalBytes run at intervals of time, and of stored bytes.
const (
	cleanInterval = 10 * time.Minute
	cleanBytes    = MaxTotalBytes / 16
)

// A Sealer encrypts content that other programs must not read. Open fails if the content
// was sealed with another id.
type Sealer interface {
	CheckSealing(ctx context.Context) error
	Seal(ctx context.Context, id string, content []byte) ([]byte, error)
	Open(ctx context.Context, id string, box []byte) ([]byte, error)
}

// ResultConfig configures a ResultStore.
type ResultConfig struct {
	Folder   string
	Apps     []string      // app IDs, as history has them; "*" for all but the gateway itself
	MaxAge   time.Duration // of stored results; zero or less: none is stored
	MaxBytes int           // for one result, in bytes; zero means 256 KB
	Vault    Sealer        // nil: nothing is sealed
	Log      *slog.Logger  // nil: nowhere
}

// A ResultStore keeps results of calls. The zero value and nil keep none. It is safe for
// concurrent use, also by several processes on one folder.
type ResultStore struct {
	cfg ResultConfig
	now func() time.Time

	mu      sync.Mutex
	cleaned time.Time
	written int64 // bytes since then
}

// NewResultStore returns a store. It creates no file before the first result.
func NewResultStore(cfg ResultConfig) *ResultStore {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, maxResult)
	return &ResultStore{cfg: cfg, now: time.Now}
}

// A Result is the stored result of a call, without images and secrets.
type Result struct {
	Call    string          `json:"call"`
	App     string          `json:"app"`
	Tool    string          `json:"tool"`
	Time    time.Time       `json:"time"`
	Content json.RawMessage `json:"answer"`
	// Owner is the identity of the caller, or a caller without one: its conversation.
	Owner string `json:"owner,omitempty"`
	// SHA256 is the digest of Content. The call's outcome in the journal has it too.
	SHA256 string `json:"sha256"`
}

// keepsResult reports whether the store keeps the result of the entry.
func (k *ResultStore) keepsResult(e *aai.Entry) bool {
	if k == nil || e.Kind != aai.Outcome || e.ResultValue == nil || e.App == aai.BuiltinApp || k.cfg.MaxAge <= 0 {
		return false
	}
	return slices.ContainsFunc(k.cfg.Apps, func(app string) bool { return app == "*" || app == e.App || app == e.Target })
}

// PrepareEntry returns a copy of the entry with the digest of its result, and a function
// that stores the result. Call that function once the entry is in the journal. For an
// entry without a result to store, PrepareEntry returns e itself.
func (k *ResultStore) PrepareEntry(ctx context.Context, e *aai.Entry) (entry *aai.Entry, keep func()) {
	if !k.keepsResult(e) {
		return e, func() {}
	}
	raw, err := json.Marshal(e.ResultValue()) // redacted values say so
	if err == nil && len(raw) > k.cfg.MaxBytes {
		raw, err = json.Marshal(map[string]int{"omitted_bytes": len(raw)})
	}
	if err != nil {
		k.cfg.Log.WarnContext(ctx, "an answer cannot be kept", "call", e.Call, "cause", err)
		return e, func() {}
	}
	taken := *e
	taken.KeptDigest = digest(raw)
	kept := Result{Call: e.Call, App: e.App, Tool: e.Tool, Time: e.Time.UTC(), Content: raw, SHA256: taken.KeptDigest, Owner: owner(e.Caller)}
	if e.Target != "" {
		kept.App = e.Target
	}
	return &taken, func() {
		if err := k.write(context.WithoutCancel(ctx), &kept); err != nil {
			k.cfg.Log.WarnContext(ctx, "an answer cannot be kept", "call", e.Call, "cause", err)
		}
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// The extensions of sealed and of plain files.
const (
	sealedEnding = ".sealed"
	plainEnding  = ".json"
)

const dayFormat = "20060102"

// nameSuffix returns the end of the name of a call's file, without the extension.
func nameSuffix(call string) string { return "-" + digest([]byte(call))[:32] }

// sealID returns the ID that binds a sealed result to its call.
func sealID(name string) string { return "answers/" + name }

func (k *ResultStore) write(ctx context.Context, a *Result) error {
	content, err := json.Marshal(a)
	if err != nil {
		return err
	}
	name := a.Time.Format(dayFormat) + nameSuffix(a.Call)
	ending := plainEnding
	if k.cfg.Vault != nil && k.cfg.Vault.CheckSealing(ctx) == nil {
		if content, err = k.cfg.Vault.Seal(ctx, sealID(name), content); err != nil {
			return err // an unsealed result must not be stored
		}
		ending = sealedEnding
	}
	k.cleanIfDue(len(content))
	if err := os.MkdirAll(k.cfg.Folder, 0o700); err != nil {
		return err
	}
	if err := diskspace.Check(k.cfg.Folder); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(k.cfg.Folder, name+ending), content)
}

// Get returns the call's result, or nil if none is stored.
func (k *ResultStore) Get(ctx context.Context, call string) (*Result, error) {
	files, err := k.files()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.name, nameSuffix(call)) || k.isExpired(f) {
			continue
		}
		a, err := k.read(ctx, f)
		if err != nil || a.Call == call {
			return a, err
		}
	}
	return nil, nil
}

// Content returns the result of a call of the same caller as JSON, or nil if none is stored.
func (k *ResultStore) Content(ctx context.Context, call string, by aai.Caller) ([]byte, error) {
	result, err := k.Get(ctx, call)
	switch {
	case err != nil || result == nil:
		return nil, err
	case result.Owner != owner(by):
		return nil, errors.New("it is the result of another caller's call, or of an earlier version; expected the id of your own call")
	}
	return result.Content, nil
}

// owner returns the key of the caller to whom a result belongs, across its sessions if it is known.
func owner(c aai.Caller) string {
	if c.Identity != "" || c.Principal != "" {
		c.Door, c.Session = "", ""
	}
	return digest([]byte(c.Conversation()))
}

// Latest returns the last stored result, or nil if there is none.
func (k *ResultStore) Latest(ctx context.Context) (*Result, error) {
	files, err := k.files()
	if err != nil || len(files) == 0 || k.isExpired(files[len(files)-1]) {
		return nil, err
	}
	return k.read(ctx, files[len(files)-1])
}

func (k *ResultStore) read(ctx context.Context, f file) (*Result, error) {
	content, err := atomicfile.Read(filepath.Join(k.cfg.Folder, f.name+f.ending), atomicfile.ReadLimits{Size: 2 * k.cfg.MaxBytes, Private: true})
	if err == nil && f.ending == sealedEnding {
		if k.cfg.Vault == nil {
			return nil, errors.New("it is sealed, and there is no vault")
		}
		content, err = k.cfg.Vault.Open(ctx, sealID(f.name), content)
	}
	if err != nil {
		return nil, err
	}
	var a Result
	if err := json.Unmarshal(content, &a); err != nil {
		return nil, fmt.Errorf("what was kept cannot be read: %w", err)
	}
	if a.SHA256 != digest(a.Content) {
		return nil, errors.New("what was kept is not what the call answered")
	}
	return &a, nil
}

// Forget deletes the results of the call, or of the app, or all if both are empty. It
// returns the number of deleted results.
func (k *ResultStore) Forget(ctx context.Context, call, app string) (n int, err error) {
	files, err := k.files()
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, f := range files {
		if call != "" && !strings.HasSuffix(f.name, nameSuffix(call)) {
			continue
		}
		if app != "" {
			a, err := k.read(ctx, f)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", f.name, err)) // its app is unknown
				continue
			}
			if a.App != app {
				continue
			}
		}
		err := os.Remove(filepath.Join(k.cfg.Folder, f.name+f.ending))
		switch {
		case err == nil:
			n++
		case !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}

// A file is the file of one result.
type file struct {
	name, ending string
	size         int64
	changed      time.Time
}

// files returns the stored files, oldest first. It ignores other files.
func (k *ResultStore) files() (found []file, err error) {
	if k == nil || k.cfg.Folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(k.cfg.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		f := file{ending: filepath.Ext(entry.Name())}
		f.name = strings.TrimSuffix(entry.Name(), f.ending)
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || f.ending != sealedEnding && f.ending != plainEnding || len(f.name) != len(dayFormat)+33 {
			continue
		}
		f.size, f.changed = info.Size(), info.ModTime()
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b file) int { return a.changed.Compare(b.changed) })
	return found, nil
}

func (k *ResultStore) isExpired(f file) bool { return k.now().Sub(f.changed) > k.cfg.MaxAge }

// cleanIfDue removes expired results before size more bytes, at most every cleanInterval or
// cleanBytes. If the person turns storing off, the next start of the gateway removes the rest.
func (k *ResultStore) cleanIfDue(size int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.written += int64(size)
	if now := k.now(); now.Sub(k.cleaned) < cleanInterval && k.written < cleanBytes {
		return
	}
	k.cleaned, k.written = k.now(), 0
	k.RemoveExpired()
}

// RemoveExpired deletes expired results, and the oldest beyond MaxTotalBytes.
func (k *ResultStore) RemoveExpired() {
	files, err := k.files()
	if err != nil {
		k.cfg.Log.Warn("old answers cannot be deleted", "cause", err)
		return
	}
	total := int64(0)
	for _, f := range files {
		total += f.size
	}
	for _, f := range files {
		if !k.isExpired(f) && total <= MaxTotalBytes {
			break
		}
		if err := os.Remove(filepath.Join(k.cfg.Folder, f.name+f.ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.cfg.Log.Warn("old answers cannot be deleted", "cause", err)
			return
		}
		total -= f.size
	}
}
