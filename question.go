package aai

import (
	"context"
	"slices"
)

// A Channel is a way to ask a person a question.
type Channel string

// The channels, from the hardest to forge to the easiest.
const (
	DesktopDialog Channel = "native" // a dialog window of the gateway
	// Passphrase is the terminal, with the passphrase that the person set for the gateway.
	Passphrase Channel = "passphrase"
	Terminal   Channel = "terminal" // the terminal of the command; the person at it is not verified
	Client     Channel = "client"   // the agent's client, such as by MCP elicitation
)

// A Question is a decision for a person. Gates return questions as values; a door or a dialog
// asks them. A question that cannot be asked counts as refused.
type Question struct {
	ID       string    // unique among the questions of its call
	Channels []Channel // permitted channels, best first
	Title    string
	// PublicTitle replaces a Title with values of the call in a window that other accounts can
	// read. Empty means that Title has none.
	PublicTitle string
	// Text is plain text of several lines. Lines that begin with QuoteMark are words of third
	// parties; the others are the gateway's. All of it must be visible before any choice but a
	// refusal is enabled; otherwise the question is not asked. A window that other accounts can
	// read shows the lengths of quoted words instead.
	Text string
	// Details are optional further text, in the form of Text.
	Details string
	Choices []Choice // the first is the refusal and the default
	// AlwaysAsk reports that every call needs its own answer, regardless of earlier permissions.
	AlwaysAsk bool
	// CallerIdentity is the identity of the caller, or empty. Do sets it; the limit of questions
	// applies to each identity.
	CallerIdentity string
	// IgnoreRecentRefusal reports that the person makes the call at their own page, so a recent
	// refusal does not answer it. Do sets it, except for calls made by another call. At a
	// terminal a person cannot be distinguished from an agent's shell.
	IgnoreRecentRefusal bool
	// Seal binds an answer to this question, this call and this hour. A door returns it
	// unchanged; it is opaque to doors.
	Seal string
}

// QuoteMark begins the lines of a Question's Text that a third party wrote.
const QuoteMark = "│ "

// A Choice is one possible answer to a Question.
type Choice struct {
	ID    string // the value of Answer.Choice
	Label string // text for the person
	// IsRefusal marks a choice other than the first as a refusal, such as a permanent one. It is
	// shown with the refusals.
	IsRefusal bool
	// IsForeign marks a label that a third party wrote.
	IsForeign bool
}

// An Answer is a person's choice for a Question.
type Answer struct {
	Choice  string  // a Choice.ID of the question
	Seal    string  // the question's seal
	Channel Channel // the channel actually used
	// Secret is the passphrase for channel Passphrase. It is checked and not stored.
	Secret string
}

// AllowsChannel reports whether the question permits the channel.
func (q Question) AllowsChannel(ch Channel) bool {
	for _, c := range q.Channels {
		if c == ch {
			return true
		}
	}
	return false
}

// IsRefusal reports whether the choice with the ID is one of the question's refusals.
func (q Question) IsRefusal(choice string) bool {
	i := slices.IndexFunc(q.Choices, func(c Choice) bool { return c.ID == choice })
	return i == 0 || i > 0 && q.Choices[i].IsRefusal
}

// An Asker shows one question to a person and waits for the answer. It returns an error if the
// question could not be shown or had no answer.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// A ReadyAsker is an Asker that reports by an error of Ready that it cannot show any question now.
// Nothing is then recorded for the question.
type ReadyAsker interface {
	Asker
	Ready(ctx context.Context) error
}
