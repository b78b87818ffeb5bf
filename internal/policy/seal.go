package policy

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// sealLifetime is the time in which a question may be answered: people need time to read.
const sealLifetime = 5 * time.Minute

// The reasons for rejecting an answer.
var (
	errSealForged  = errors.New("its seal is not from this gateway")
	errSealExpired = errors.New("its question was asked too long ago")
	errSealUsed    = errors.New("it was used before")
	errChannel     = errors.New("its question may not be asked through this channel")
)

// A sealer binds answers to questions. A seal is a nonce, an expiry and a MAC over both
// and over the request; the key never leaves the process. A seal is valid for one answer.
type sealer struct {
	key [32]byte

	mu   sync.Mutex
	used map[nonce]time.Time // the seal's expiry
}

type nonce [16]byte

const sealSize = len(nonce{}) + 8 + sha256.Size

func newSealer() *sealer {
	s := &sealer{used: make(map[nonce]time.Time)}
	_, _ = rand.Read(s.key[:]) // crypto/rand never fails; it ends the process instead
	return s
}

// seal returns a new seal for the request's binding.
func (s *sealer) seal(asked [sha256.Size]byte, now time.Time) string {
	b := make([]byte, 0, sealSize)
	var n nonce
	_, _ = rand.Read(n[:])
	b = append(b, n[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(sealLifetime).UnixNano()))
	return base64.RawURLEncoding.EncodeToString(s.mac(b, asked))
}

// open consumes the seal, or returns the reason for rejecting it. Of the seals of a
// question about several calls it consumes the one of this call.
func (s *sealer) open(seal string, asked [sha256.Size]byte, now time.Time) error {
	failure := errSealForged
	for i, one := range strings.SplitN(seal, sealMark, maxMergedCalls+1) {
		err := s.openOne(one, asked, now)
		if err == nil || i == maxMergedCalls {
			return err
		}
		if !errors.Is(err, errSealForged) {
			failure = err
		}
	}
	return failure
}

func (s *sealer) openOne(seal string, asked [sha256.Size]byte, now time.Time) error {
	b, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || len(b) != sealSize {
		return errSealForged
	}
	head := b[:len(b)-sha256.Size]
	if !hmac.Equal(b, s.mac(append([]byte(nil), head...), asked)) {
		return errSealForged
	}
	expires := time.Unix(0, int64(binary.BigEndian.Uint64(head[len(nonce{}):])))
	if now.After(expires) {
		return errSealExpired
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := nonce(head[:len(nonce{})])
	if _, ok := s.used[n]; ok {
		return errSealUsed
	}
	for old, until := range s.used {
		if now.After(until) {
			delete(s.used, old)
		}
	}
	s.used[n] = expires
	return nil
}

// mac appends the MAC of head and asked to head.
func (s *sealer) mac(head []byte, asked [sha256.Size]byte) []byte {
	m := hmac.New(sha256.New, s.key[:])
	m.Write(head)
	m.Write(asked[:])
	return m.Sum(head)
}

// An Authenticator verifies that the person in control of the gateway's permissions is
// present. It is safe for concurrent use.
type Authenticator interface {
	// Method returns the current method: aai.DesktopDialog if the person has a screen,
	// aai.Passphrase if there is only a passphrase, or "" if there is neither.
	Method(ctx context.Context) aai.Channel
	// CheckPassphrase returns an error if typed is not the passphrase. It limits attempts.
	CheckPassphrase(ctx context.Context, typed string) error
}

// A riskLevel is the risk of a permission.
type riskLevel int

const (
	readsOnly    riskLevel = iota // R0
	reversible                    // R1
	irreversible                  // R2: sends, deletes, pays, starts programs, or unknown
)

// riskOf returns the risk of the permission, which may cover more than the current tool:
// with permission to act in a window a caller may click anything there.
func riskOf(r *aai.Request, permission string) riskLevel {
	if !r.App.OperatesOthers() {
		if t := r.App.Tool(permission); t != nil {
			return riskOfTool(t)
		}
		return irreversible
	}
	if permission == aai.PermissionSee {
		return readsOnly
	}
	return irreversible
}

// riskOfTool returns the risk of an app's tool. Starting a program is R2 even if the tool
// declares a lesser effect: that effect describes the running program.
func riskOfTool(t *aai.Tool) riskLevel {
	if t.Assessment(nil).MayStartProgram {
		return irreversible
	}
	switch t.Effect {
	case aai.Reads:
		return readsOnly
	case aai.Changes:
		return reversible
	case aai.Destroys:
	}
	return irreversible
}

// channels returns the channels for asking about the permission, best first. They include
// the MCP client only if the person trusts it for this caller, and only for local tools
// below irreversible: its answer may come from a program.
func (c *Consent) channels(r *aai.Request, permission string) []aai.Channel {
	if riskOf(r, permission) < irreversible && c.trustsClient(r.Call.Caller) && !fromTheWeb(r.App) {
		return append([]aai.Channel{aai.Client}, c.availableChannels()...)
	}
	return c.availableChannels()
}

// availableChannels returns the channels to the person. If a method of reauthentication
// works, it is the only one, because a program can type at a terminal.
func (c *Consent) availableChannels() []aai.Channel {
	if c.authenticator == nil {
		return []aai.Channel{aai.DesktopDialog, aai.Terminal}
	}
	if way := c.authenticator.Method(context.Background()); way == aai.DesktopDialog && c.dialogUnavailable() {
		return []aai.Channel{aai.DesktopDialog, aai.Terminal}
	} else if way != "" {
		return []aai.Channel{way}
	}
	return []aai.Channel{aai.Terminal}
}

// allowsOnlyOnce reports whether an answer may be valid for this call only, because it
// would come from a terminal without reauthentication.
func (c *Consent) allowsOnlyOnce(r *aai.Request) bool {
	return c.authenticator != nil && r.Call.Caller.Door == aai.DoorCLI && slices.Contains(c.availableChannels(), aai.Terminal)
}

// checkReauth returns an error if the answer needs a passphrase and has a wrong one.
func (c *Consent) checkReauth(a aai.Answer) error {
	if a.Channel != aai.Passphrase || a.Choice == "" || a.Choice == choiceDeny {
		return nil
	}
	return c.authenticator.CheckPassphrase(context.Background(), a.Secret)
}

func (c *Consent) trustsClient(caller aai.Caller) bool {
	return slices.ContainsFunc(c.elicitation, func(who string) bool {
		return who == Wildcard || caller.Identity != "" && who == caller.Identity
	})
}

// fromTheWeb reports whether the app comes from a web site instead of a file on this
// computer. The ID of such an app begins with its host.
func fromTheWeb(app *aai.App) bool { return !app.OperatesOthers() && strings.Contains(app.ID, "/") }

// webHost returns the host of an app from the web, and the rest of its id.
func webHost(app *aai.App) (host, id string, web bool) {
	if app.IsPage() {
		_, host, web = strings.Cut(app.ID, "://")
		return host, "", web
	}
	host, id, web = strings.Cut(app.ID, "/")
	return host, id, web && fromTheWeb(app)
}

// foreignAnswerError returns the error for an answer to another question.
func foreignAnswerError(cause error) *aai.Error {
	e := aai.Errorf(aai.ConsentRequired, "the answer does not belong to this call: %w", cause)
	e.Hint = "Make the call again without answers, and show its question to the person."
	return e
}
