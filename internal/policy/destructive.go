package policy

import (
	"context"
	"strings"
	"unicode"

	"aai"
)

// Destructive is the gate that takes an act on a window for one that cannot be
// undone where the element or the call speaks of that, such as a click on "Delete". It admits
// everything; consent then asks for aai.PermissionDestroy instead of
// aai.PermissionAct. It is one signal among others: a button may be called
// anything.
type Destructive struct {
	// Words are in any language; a word is found where it stands by itself, one
	// without letters of the Latin, Greek or Cyrillic alphabet wherever it stands.
	Words []string
}

// DestructiveWords are the words where nobody configured others.
func DestructiveWords() []string {
	return []string{
		"delete", "remove", "erase", "wipe", "destroy", "discard", "format", "uninstall", "reset", "empty trash", "send", "pay", "buy", "purchase",
		"submit order", "place order", "transfer", "publish", "shut down", "sign out of all",
		"löschen", "entfernen", "verwerfen", "formatieren", "deinstallieren", "zurücksetzen", "senden", "bezahlen", "kaufen", "überweisen", "veröffentlichen",
		"supprimer", "effacer", "désinstaller", "réinitialiser", "envoyer", "payer", "acheter", "vider la corbeille",
		"eliminar", "borrar", "suprimir", "desinstalar", "restablecer", "enviar", "pagar", "comprar",
		"elimina", "cancella", "rimuovi", "disinstalla", "invia", "paga", "acquista",
		"excluir", "apagar", "remover",
		"verwijderen", "wissen", "verzenden", "betalen", "kopen",
		"удалить", "стереть", "очистить", "отправить", "оплатить", "купить",
		"删除", "移除", "清空", "格式化", "卸载", "重置", "发送", "支付", "付款", "购买", "转账", "刪除", "傳送", "購買",
		"削除", "消去", "初期化", "送信", "支払", "購入", "삭제", "제거", "초기화", "보내기", "결제", "구매",
	}
}

// spoken are the parameters that say on what a tool acts.
func spoken() []string { return []string{"query", "to_query", "text_query", "element", "target"} }

// Check implements aai.Gate.
func (d Destructive) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.Targets == nil || r.Effect() == aai.Reads || len(d.Words) == 0 {
		return nil, nil
	}
	if r.App.Words != nil && d.speaks(r.App.Words(ctx, r.Call)) {
		r.Destructive = true
		return nil, nil
	}
	for _, name := range spoken() {
		if text, ok := r.Call.Args[name].(string); ok && d.speaks(text) {
			r.Destructive = true
		}
	}
	return nil, nil
}

// speaks reports whether one of the words is in the text.
func (d Destructive) speaks(text string) bool {
	text = " " + spaced(text) + " "
	for _, word := range d.Words {
		plain := spaced(word)
		if plain == "" {
			continue
		}
		if alphabetic(plain) {
			plain = " " + plain + " "
		}
		if strings.Contains(text, plain) {
			return true
		}
	}
	return false
}

// spaced is the text in lower case with one space for all that is no letter.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(aai.CleanLabel(text, 10_000)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	}), " ")
}

// alphabetic reports whether the word is written with spaces around it.
func alphabetic(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) })
}
