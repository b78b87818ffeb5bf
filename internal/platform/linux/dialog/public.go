package dialog

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// withoutValues returns the question for a presenter with a public text or public labels. Labels
// of third parties become numbers of lines in the text. In a public text, the length replaces each value.
func (w messages) withoutValues(q aai.Question, way presenter) aai.Question {
	if way.hasPublicLabels {
		q = numberLabels(q)
	}
	if !way.hasPublicText {
		return q
	}
	quoted := regexp.MustCompile(`"[^"]*"`)
	name := regexp.MustCompile(`^[\w.-]{1,64}: `)
	omit := func(value string) string {
		return fmt.Sprintf(w.omitted, utf8.RuneCountInString(strings.Trim(value, `"`)))
	}
	var kept []string
	for line := range strings.SplitSeq(q.Text, "\n") {
		if value, isForeign := strings.CutPrefix(line, aai.QuoteMark); isForeign {
			label := name.FindString(value)
			kept = append(kept, aai.QuoteMark+label+omit(value[len(label):]))
			continue
		}
		kept = append(kept, quoted.ReplaceAllStringFunc(line, omit))
	}
	if q.PublicTitle != "" {
		q.Title = q.PublicTitle
	}
	q.Text, q.Details = strings.Join(kept, "\n")+"\n\n"+w.whereOmitted, ""
	return q
}

// numberLabels replaces the labels that third parties wrote by numbers, and adds them to the text.
func numberLabels(q aai.Question) aai.Question {
	choices := make([]aai.Choice, len(q.Choices))
	for i, c := range q.Choices {
		if c.IsForeign {
			q.Text += "\n" + aai.QuoteMark + strconv.Itoa(i) + ": " + aai.CleanLabel(c.Label, maxLabel)
			c.Label = strconv.Itoa(i)
		}
		choices[i] = c
	}
	q.Choices = choices
	return q
}
