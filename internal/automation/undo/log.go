package undo

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Limits of the log in memory. The oldest acts beyond a limit are dropped.
const (
	maxActs          = 100       // of a conversation
	maxValue         = 100 << 10 // bytes of a step, a state step or an expected state, as JSON
	maxConversation  = 4 << 20   // bytes of a conversation
	maxAll           = 64 << 20  // bytes of all
	maxConversations = 200       // conversations
)

// Act is a recorded call of a conversation that may have changed something.
type Act struct {
	Call         string            `json:"call"`
	Time         time.Time         `json:"time"`
	App          string            `json:"app"`
	Tool         string            `json:"tool"`
	Target       string            `json:"target,omitempty"`
	Element      aai.TargetElement `json:"on,omitzero"`
	Undo         *aai.Undo         `json:"undo,omitempty"`
	NoUndoReason string            `json:"lost,omitempty"` // why Undo was dropped; "" if there was none
	Code         aai.Code          `json:"code,omitempty"` // the error code if it failed: it may still have happened
	Status       Status            `json:"status,omitempty"`

	size int // of Undo, in bytes as JSON
}

// String returns the act in one line, such as ax_set_value on text "Name" in "Form".
func (a *Act) String() string {
	if on := a.Element.String(); on != "" {
		return a.Tool + " on " + on
	}
	return a.Tool + " of " + cmp.Or(a.Target, a.App)
}

// onDesktop reports whether the act was on windows.
func (a *Act) onDesktop() bool { return a.App == aai.DesktopApp }

// Config configures a Log.
type Config struct {
	// Vault keeps the acts of terminal commands, which are separate processes, for an hour. Nil:
	// they are not kept.
	Vault Vault
	Log   *slog.Logger // nil: no log
}

// Log keeps the last acts of each conversation and their undo steps: in memory, and those of the
// terminal sealed. It implements [gateway.MutationObserver] and is safe for concurrent use.
type Log struct {
	vault Vault
	log   *slog.Logger

	mu            sync.Mutex
	conversations map[string]*conversation
	order         []string // conversations by key, the last used at the end
	size          int      // of all acts
}

// conversation holds the acts of one conversation.
type conversation struct {
	acts      []*Act // the newest last
	size      int
	reverting bool // a revert is running
}

// NewLog returns an empty log.
func NewLog(cfg Config) *Log {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Log{vault: cfg.Vault, log: cfg.Log, conversations: make(map[string]*conversation)}
}

// ObserveMutation implements [gateway.MutationObserver]. A mutation by [Revert] becomes the status of
// the reverted act, and no new act. The log also ignores changes of the gateway itself.
func (l *Log) ObserveMutation(ctx context.Context, d *gateway.Mutation) {
	if t, ok := ctx.Value(revertingKey{}).(reverting); ok {
		if t.undo != nil {
			status := StatusUndone
			if d.Code != "" {
				status = StatusUnknown
			}
			l.setStatus(ctx, d.Caller, status, func(a *Act) bool { return a.Undo == t.undo })
		}
		return
	}
	if d.App == aai.BuiltinApp {
		return
	}
	act := &Act{
		Call: d.Call, Time: d.Time, App: d.App, Tool: d.Tool, Target: d.Target, Element: d.Element,
		Undo: d.Undo, Code: d.Code,
	}
	act.measure()
	l.mu.Lock()
	l.add(l.conversationOf(d.Caller), act)
	l.mu.Unlock()
	if l.isSealed(d.Caller) {
		copied := *act
		l.updateSealed(ctx, d.Caller, func(acts []*Act) []*Act { return append(acts, &copied) })
	}
}

// measure sets the size of the act's Undo, and drops an Undo that is too large.
func (a *Act) measure() {
	if a.Undo == nil {
		return
	}
	for _, part := range []any{a.Undo.Step, a.Undo.StateStep, a.Undo.ExpectedState, a.Undo.ExpectedShape} {
		b, err := json.Marshal(part)
		switch {
		case err != nil:
			a.dropUndo("the undo data cannot be encoded")
			return
		case len(b) > maxValue:
			a.dropUndo("the old or new value was too large to keep")
			return
		}
		a.size += len(b)
	}
}

// dropUndo drops the act's Undo for the given reason.
func (a *Act) dropUndo(why string) { a.Undo, a.NoUndoReason, a.size = nil, why, 0 }

// conversationOf returns the caller's conversation and marks it as the last used. The caller holds
// l.mu.
func (l *Log) conversationOf(caller aai.Caller) *conversation {
	key := caller.Conversation()
	if i := slices.Index(l.order, key); i >= 0 {
		l.order = slices.Delete(l.order, i, i+1)
	} else {
		l.conversations[key] = new(conversation)
	}
	l.order = append(l.order, key)
	if len(l.order) > maxConversations {
		l.forgetOldest()
	}
	return l.conversations[key]
}

// forgetOldest drops the least recently used conversation. The caller holds l.mu.
func (l *Log) forgetOldest() {
	l.size -= l.conversations[l.order[0]].size
	delete(l.conversations, l.order[0])
	l.order = l.order[1:]
}

// add adds an act and enforces the limits. The caller holds l.mu.
func (l *Log) add(t *conversation, act *Act) {
	t.acts = append(t.acts, act)
	l.resize(t, act.size)
	for len(t.acts) > maxActs {
		l.resize(t, -t.acts[0].size)
		t.acts[0] = nil
		t.acts = t.acts[1:]
	}
	for i := 0; t.size > maxConversation; i++ {
		l.resize(t, -t.acts[i].size)
		if t.acts[i].Undo != nil {
			older := *t.acts[i] // a running revert may still use the old one
			older.dropUndo("too many acts followed")
			t.acts[i] = &older
		}
	}
	for l.size > maxAll && l.conversations[l.order[0]] != t {
		l.forgetOldest()
	}
}

func (l *Log) resize(t *conversation, by int) { t.size, l.size = t.size+by, l.size+by }

// setStatus sets the status of the caller's first act that the given function accepts.
func (l *Log) setStatus(ctx context.Context, caller aai.Caller, status Status, which func(*Act) bool) {
	l.mu.Lock()
	t, call := l.conversations[caller.Conversation()], ""
	if t != nil {
		if i := slices.IndexFunc(t.acts, which); i >= 0 {
			now := *t.acts[i]
			now.Status = status
			t.acts[i], call = &now, now.Call
		}
	}
	l.mu.Unlock()
	if call == "" || !l.isSealed(caller) {
		return
	}
	l.updateSealed(ctx, caller, func(acts []*Act) []*Act {
		for _, a := range acts {
			if a.Call == call {
				a.Status = status
			}
		}
		return acts
	})
}

// Depth returns the number of the caller's acts on windows that can still be reverted.
func (l *Log) Depth(ctx context.Context, caller aai.Caller) (int, error) {
	acts, err := l.Acts(ctx, caller)
	n := 0
	for _, act := range acts {
		if act.onDesktop() && act.Undo != nil && act.Status != StatusUndone && act.Status != StatusPartial {
			n++
		}
	}
	return n, err
}

// Acts returns the acts of the caller's conversation, the newest last. Callers must not change
// them.
func (l *Log) Acts(ctx context.Context, caller aai.Caller) ([]*Act, error) {
	if l.isSealed(caller) {
		if err := l.loadSealed(ctx, caller); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.conversations[caller.Conversation()]; t != nil {
		return slices.Clone(t.acts), nil
	}
	return nil, nil
}
