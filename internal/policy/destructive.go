package policy

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"aai"
)

// Destructive is the gate that takes an act on a window for one that cannot be
// undone where the element or the call speaks of that, such as a click on "Delete", or
// where it closes or deletes whatever it hits, as some keys do. It admits everything; consent then asks for aai.PermissionDestroy instead of
// aai.PermissionAct. It is one signal among others: a button may be called
// anything.
type Destructive struct {
	// Words are in any language; a word is found where it stands by itself, one
	// without letters of the Latin, Greek or Cyrillic alphabet wherever it stands.
	Words []string
}

// DestructiveWords are the words where nobody configured others. What was not saved, or
// is written over, is lost like what is deleted. "Replace" alone is none of them: it is
// the button of every find-and-replace, one place at a time and undone with a key, and
// who is asked at each learns to say yes. "上書き" is none: it also says "save".
func DestructiveWords() []string {
	return []string{
		"delete", "remove", "erase", "wipe", "destroy", "discard", "format", "uninstall", "reset", "quit", "close", "exit", "empty trash", "send", "pay", "buy", "purchase",
		"submit order", "place order", "transfer", "publish", "shut down", "sign out of all",
		"don't save", "dont save", "do not save", "without saving", "discarding", "lose changes", "lose your changes", "overwrite", "replace all", "replace file",
		"schließen", "beenden", "fermer", "quitter", "cerrar", "salir", "chiudi", "esci", "fechar", "sair", "sluiten", "afsluiten", "закрыть", "выйти", "завершить",
		"关闭", "退出", "關閉", "結束", "閉じる", "終了", "닫기", "종료",
		"löschen", "entfernen", "verwerfen", "formatieren", "deinstallieren", "zurücksetzen", "senden", "bezahlen", "kaufen", "überweisen", "veröffentlichen",
		"nicht speichern", "ohne speichern", "ohne zu speichern", "überschreiben", "alle ersetzen", "alles ersetzen",
		"supprimer", "effacer", "désinstaller", "réinitialiser", "envoyer", "payer", "acheter", "vider la corbeille",
		"ne pas enregistrer", "ne pas sauvegarder", "sans enregistrer", "sans sauvegarder", "écraser", "tout remplacer", "remplacer tout",
		"eliminar", "borrar", "suprimir", "desinstalar", "restablecer", "enviar", "pagar", "comprar",
		"no guardar", "sin guardar", "descartar", "sobrescribir", "reemplazar todo", "reemplazar todos",
		"elimina", "cancella", "rimuovi", "disinstalla", "invia", "paga", "acquista",
		"non salvare", "senza salvare", "senza registrare", "scarta", "sovrascrivi", "sostituisci tutto", "sostituisci tutti",
		"excluir", "apagar", "remover",
		"não salvar", "não guardar", "não gravar", "sem salvar", "sem guardar", "sem gravar", "sobrescrever", "substituir tudo", "substituir todos",
		"verwijderen", "wissen", "verzenden", "betalen", "kopen",
		"niet opslaan", "niet bewaren", "zonder opslaan", "zonder op te slaan", "verwerpen", "overschrijven", "alles vervangen",
		"удалить", "стереть", "очистить", "отправить", "оплатить", "купить",
		"не сохранять", "без сохранения", "не сохраняя", "отменить изменения", "перезаписать", "заменить все", "заменить всё",
		"删除", "移除", "清空", "格式化", "卸载", "重置", "发送", "支付", "付款", "购买", "转账", "刪除", "傳送", "購買",
		"不保存", "未保存", "不存储", "不儲存", "未儲存", "放弃更改", "放棄變更", "全部替换", "全部取代",
		"削除", "消去", "初期化", "送信", "支払", "購入", "保存しない", "保存せず", "保存しないで", "破棄", "すべて置換", "삭제", "제거", "초기화", "보내기", "결제", "구매", "저장 안 함", "저장 안함", "저장하지 않", "덮어쓰기", "모두 바꾸기",
	}
}

// Check implements aai.Gate.
func (d Destructive) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if !r.App.OperatesOthers() || r.Effect() == aai.Reads {
		return nil, nil
	}
	hit := r.Aim(ctx)
	if len(d.Words) == 0 {
		return nil, nil
	}
	if hit.Destroys || d.speaks(hit.Says) {
		r.Destructive = true
		return nil, nil
	}
	for name, value := range r.Call.Args {
		if text, ok := value.(string); ok && (r.Tool.About == nil || slices.Contains(r.Tool.About, name)) && d.speaks(text) {
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

// spaced is the text in lower case with one space for all that is no letter. An
// apostrophe is none, however it is written.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(aai.CleanLabel(text, 10_000)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) || r == '\u02bc'
	}), " ")
}

// alphabetic reports whether the word is written with spaces around it.
func alphabetic(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) })
}
