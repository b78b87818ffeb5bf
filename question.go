package aai

import (
	"context"
	"slices"
)

// A Channel is a way to put a question to a person.
type Channel string

// The channels, from the hardest to forge to the easiest.
const (
	DesktopDialog Channel = "native" // a dialog window of the gateway's own
	// Passphrase is the terminal, with the passphrase that the person set for the gateway.
	Passphrase Channel = "passphrase"
	Terminal   Channel = "terminal" // the terminal the command was typed at: by whom, nobody can tell
	Client     Channel = "client"   // the agent's client, such as by MCP elicitation
)

// A Question is something only a person may decide. Gates return questions as
// values; a door or a dialog puts them. A question that cannot be put is
// answered no.
type Question struct {
	ID       string    // names the question among those of its call
	Channels []Channel // where it may be put, best first
	Title    string
	// Text is plain text of several lines. Lines that begin with QuoteMark are words
	// of third parties; the others are the gateway's own. It is shown whole before
	// anything but a refusal can be chosen, or the question is not put.
	Text string
	// Details are more to know, in the form of Text, for who wants to.
	Details string
	Choices []Choice // the first is the refusal, and the default
	// AlwaysAsk says that every single call is asked about, whatever was allowed ahead.
	AlwaysAsk bool
	// CallerIdentity is the identity of the caller that it is asked for, or empty. Do sets it: how
	// often a person is asked is counted by it.
	CallerIdentity string
	// IgnoreRecentRefusal says that the person makes the call themselves, at their own page: their no of a
	// moment ago is no answer to it. Do sets it, and of no call that another one makes. At a
	// terminal nobody can tell a person from an agent's shell.
	IgnoreRecentRefusal bool
	// Seal binds an answer to this question, this call and this hour. A door
	// gives it back unchanged; to a door it has no meaning.
	Seal string
}

// QuoteMark begins the lines of a Question's Text that a third party wrote.
const QuoteMark = "│ "

// A Choice is one possible answer to a Question.
type Choice struct {
	ID    string // what an Answer carries
	Label string // what a person reads
	// IsRefusal says of a choice that is not the first that it is a no as well, such as
	// one for good. It stands where refusals do.
	IsRefusal bool
}

// An Answer is what a person chose.
type Answer struct {
	Choice  string  // a Choice.ID of the question
	Seal    string  // the question's seal
	Channel Channel // how it was really put
	// Secret is the passphrase, where it was put so. It is checked, and kept nowhere.
	Secret string
}

// AllowsChannel reports whether the question may be put through the channel.
func (q Question) AllowsChannel(ch Channel) bool {
	for _, c := range q.Channels {
		if c == ch {
			return true
		}
	}
	return false
}

// IsRefusal reports whether the choice, by its ID, is one of the question's that say no.
func (q Question) IsRefusal(choice string) bool {
	i := slices.IndexFunc(q.Choices, func(c Choice) bool { return c.ID == choice })
	return i == 0 || i > 0 && q.Choices[i].IsRefusal
}

// An Asker puts one question to a person and waits for the answer. It returns
// an error when nobody could be asked or nobody answered.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// A ReadyAsker can say beforehand that nobody could be asked: nothing is put on record
// for a question that cannot be put.
type ReadyAsker interface {
	Asker
	Ready(ctx context.Context) error
}
