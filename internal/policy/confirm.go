package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"aai"
)

// confirmID names the gate's question among those of its call.
const confirmID = "confirm"

// Confirm is the gate that has a person confirm a single call whatever was allowed
// before: a click on something whose caption says that it destroys or pays, and in
// the mode "safe" every call of a declared tool that may destroy. It is safe for
// concurrent use.
type Confirm struct {
	words []string
	modes *Modes
	seals *sealer
	now   func() time.Time
}

// NewConfirm returns the gate. The words are looked for in captions, as whole words
// and without regard to case; without any, captions are not looked at.
func NewConfirm(modes *Modes, words []string) *Confirm {
	lower := make([]string, len(words))
	for i, w := range words {
		lower[i] = strings.ToLower(w)
	}
	return &Confirm{words: lower, modes: modes, seals: newSealer(), now: time.Now}
}

// DestructiveWords are what buttons say that delete, send or pay, in the languages
// that most people read. Words that stand for harmless things as often, such as
// "close", are left out.
func DestructiveWords() []string {
	return []string{
		"delete", "erase", "remove all", "uninstall", "format", "wipe", "empty trash", "reset", "factory reset", "discard", "overwrite",
		"send", "post", "publish", "submit order", "place order", "buy", "pay", "purchase", "transfer", "subscribe",
		"sign out", "log out", "shut down", "restart", "terminate", "revoke",
		"löschen", "entfernen", "senden", "absenden", "kaufen", "bezahlen", "überweisen", "zurücksetzen", "verwerfen", "papierkorb leeren",
		"supprimer", "effacer", "envoyer", "acheter", "payer", "réinitialiser",
		"eliminar", "borrar", "enviar", "comprar", "pagar", "restablecer",
		"elimina", "cancella", "invia", "acquista", "paga", "apagar", "excluir",
		"удалить", "отправить", "купить", "оплатить", "сбросить",
		"删除", "刪除", "清空", "发送", "傳送", "支付", "付款", "购买", "購買", "转账", "卸载", "重置", "格式化", "提交订单",
		"削除", "送信", "購入", "支払う", "初期化", "삭제", "보내기", "결제", "구매",
	}
}

// Check asks for confirmation where that is due, and finds it in the answers.
func (c *Confirm) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	why := c.why(ctx, r)
	if why == "" {
		return nil, nil
	}
	answer, answered := r.Call.Answers[confirmID]
	if !answered {
		return []aai.Question{c.question(r, why)}, nil
	}
	err := c.seals.open(answer.Seal, binding(r), c.now())
	if err == nil && !slices.Contains(channels(), answer.Channel) {
		err = errChannel
	}
	switch {
	case err != nil:
		e := aai.Errorf(aai.ConsentRequired, "the confirmation does not belong to this call: %w", err)
		e.Hint = "Make the call again without answers, and put its question to the person."
		return nil, e
	case answer.Choice != choiceOnce:
		return nil, saidNo(r)
	}
	return nil, nil
}

// why says what makes the call one to be confirmed, or "".
func (c *Confirm) why(ctx context.Context, r *aai.Request) string {
	if r.App.ID == aai.OwnApp || r.Effect() == aai.Reads {
		return ""
	}
	if r.App.Words != nil {
		if len(c.words) == 0 {
			return ""
		}
		caption := r.App.Words(ctx, r.Call)
		if word := c.destructive(caption); word != "" {
			return fmt.Sprintf("It is about %q, and %q may not be undone.", aai.CleanLabel(caption, 100), word)
		}
		return ""
	}
	// What the mode is when it cannot be read is its own gate's to refuse.
	if mode, err := c.modes.Current(); err == nil && mode == Safe && r.Effect() == aai.Destroys {
		return "The gateway is in the mode \"safe\", in which this is asked about each time."
	}
	return ""
}

// destructive returns the first of the words that stands in the caption by itself.
// Scripts without spaces between words have no such borders.
func (c *Confirm) destructive(caption string) string {
	caption = strings.ToLower(caption)
	for _, word := range c.words {
		for from := 0; ; {
			at := strings.Index(caption[from:], word)
			if at < 0 {
				break
			}
			at += from
			before, after := lastRune(caption[:at]), firstRune(caption[at+len(word):])
			if !spaced(word) || !unicode.IsLetter(before) && !unicode.IsLetter(after) {
				return word
			}
			from = at + len(word)
		}
	}
	return ""
}

// spaced reports whether the script of the word has spaces between words.
func spaced(word string) bool {
	for _, r := range word {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			return false
		}
	}
	return true
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	var last rune
	for _, r := range s {
		last = r
	}
	return last
}

func (c *Confirm) question(r *aai.Request, why string) aai.Question {
	return aai.Question{
		ID:       confirmID,
		Channels: channels(),
		Title:    fmt.Sprintf("Let %s do this now?", r.Call.Caller),
		Text: fmt.Sprintf("%s\nApp:     %s\nTool:    %s\nWith:    %s", why,
			aai.CleanLabel(r.Target.ID, 200), aai.CleanLabel(r.Tool.Name, 64), shownArgs(r)),
		Choices: []aai.Choice{{ID: choiceDeny, Label: "Deny"}, {ID: choiceOnce, Label: "Allow this once"}},
		Seal:    c.seals.seal(binding(r), c.now()),
	}
}
