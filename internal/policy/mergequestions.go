package policy

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

const (
	// maxMergedCalls limits the calls of one question; a dialog shows fewer at once.
	maxMergedCalls = 32
	// sealMark separates the seals of a question about several calls; no seal contains it.
	sealMark = "."
)

// MergeQuestions implements aai.QuestionMerger. It merges the questions about one caller's
// calls into one that shows each of them completely; the answer applies to all. It offers
// the choices common to all, except all tools of an app and a refusal for good: these
// would decide about more than the calls. It returns false if it cannot merge the questions.
func (c *Consent) MergeQuestions(asked []aai.PendingQuestion) (aai.Question, bool) {
	caller, channels := asked[0].Request.Call.Caller, commonChannels(asked)
	if asked[0].Question.ID != questionID || len(asked) > maxMergedCalls || len(channels) == 0 {
		return aai.Question{}, false
	}
	w := c.words()
	head := w.callerLines(caller)
	text, details, seals := head, lines(nil), make([]string, len(asked))
	for i, a := range asked {
		if a.Request.Call.Caller != caller {
			return aai.Question{}, false
		}
		text.addOwn(w.eachOf, i+1, len(asked))
		text = append(text, strings.TrimPrefix(a.Question.Text, strings.Join(head, "\n")+"\n"))
		details.addOwn(w.eachOf, i+1, len(asked))
		details = append(details, a.Question.Details)
		seals[i] = a.Question.Seal
	}
	q := aai.Question{ID: questionID, Channels: channels, Seal: strings.Join(seals, sealMark)}
	var title lines
	title.addOwn(w.titleAll, w.shortAsker(caller), len(asked))
	q.Title, q.Text, q.Details = title[0], strings.Join(text, "\n"), strings.Join(details, "\n")
	for _, choice := range []aai.Choice{{ID: choiceDeny, Label: w.deny}, {ID: choiceOnce, Label: w.once}, {ID: choiceSession, Label: w.session}, {ID: choiceAlways, Label: w.always}} {
		if !slices.ContainsFunc(asked, func(a aai.PendingQuestion) bool { return !offers(a.Question, choice.ID) }) {
			q.Choices = append(q.Choices, choice)
		}
	}
	return q, true
}

func offers(q aai.Question, id string) bool {
	return slices.ContainsFunc(q.Choices, func(c aai.Choice) bool { return c.ID == id })
}

// commonChannels returns the channels that all questions permit. The order is that of a
// question that does not prefer the client, if there is one.
func commonChannels(asked []aai.PendingQuestion) []aai.Channel {
	order := asked[0].Question.Channels
	for _, a := range asked {
		if len(a.Question.Channels) > 0 && a.Question.Channels[0] != aai.Client {
			order = a.Question.Channels
		}
	}
	return slices.DeleteFunc(slices.Clone(order), func(ch aai.Channel) bool {
		return slices.ContainsFunc(asked, func(a aai.PendingQuestion) bool { return !a.Question.AllowsChannel(ch) })
	})
}
