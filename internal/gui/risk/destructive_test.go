package risk

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

func TestDestructiveWords(t *testing.T) {
	gate := NewDestructiveMarker(lexicon.DestructiveWords())
	for query, want := range map[string]bool{
		"Delete": true, "delete all data": true, "Delete…": true, "role:button title:Delete": true, "//button[@name='Delete Account']": true,
		"/^Löschen$/": true, "LÖSCHEN": true, "删除": true, "全部删除文件": true, "永久刪除": true, "Удалить": true, "Empty  Trash": true, "すべて削除する": true,
		"Pay now": true, "Send": true,
		"Save": false, "deleted items": false, "sender": false, "e12": false, "": false, "information": false, "formatted": false, "保存": false, "Undelete": false,
		"onto Trash": true, "Note onto Papierkorb": true, "onto 回收站": true, "Trash": false, "Papierkorb": false, "回收站": false, "Trashy": false,
		"Leave page": true, "leave a comment": false, "Выход": true, "放弃": true, "🗙": true, "⏻": true, "place your order": true, "Clear browsing data": true,
		"d\u200belete": true, // as it looks to a person
	} {
		r := operating(program("editor", "e"), "click")
		r.Call.Args = map[string]any{"query": query}
		assert.Check(t, is.Equal(check(gate, r), "admits"))
		assert.Check(t, is.Equal(r.Destructive, (r.DestructiveReason != "")), "%q %q", query, r.DestructiveReason)
		if r.Destructive != want || (r.Permission() == aai.PermissionDestroy) != want {
			t.Errorf("%q: %v, %s", query, r.Destructive, r.Permission())
		}
	}
	for _, r := range []*aai.Request{operating(program("editor", "e"), "look"), asking(&aai.App{ID: "org.example.Notes", Tools: []*aai.Tool{{Name: "add", Effect: aai.Changes}}}, "add")} {
		r.Call.Args = map[string]any{"query": "Delete"}
		if check(gate, r); r.Destructive {
			t.Errorf("%s is no act on a window", r.Tool.Name)
		}
	}
	for name, want := range map[string]bool{"query": true, "text": false} { // typed text does not count
		r := operating(program("editor", "e"), "click")
		r.Tool = &aai.Tool{Name: "type", Assess: aai.Always(aai.Assessment{ElementParams: []string{"query"}})}
		r.Call.Args = map[string]any{name: "Delete"}
		if check(gate, r); r.Destructive != want {
			t.Errorf("%s: %v", name, r.Destructive)
		}
	}
	r := operating(program("editor", "e"), "click")
	r.Call.Args = map[string]any{"query": "Delete"}
	if check(DestructiveMarker{}, r); r.Destructive {
		t.Error("no words")
	}
}

// TestWordsOfLoss checks that discarding unsaved data counts as deleting, and that the
// buttons beside it do not.
func TestWordsOfLoss(t *testing.T) {
	gate := NewDestructiveMarker(lexicon.DestructiveWords())
	for _, text := range []string{
		"Don't Save", "Don’t Save", "Don\u02bct Save", "_Don't save", "DON‘T SAVE", "Do not save", "Discard", "Discard changes", "Close without saving",
		"Close Without Saving", "Quit without saving", "Lose changes", "Overwrite", "Overwrite file?", "Replace All", "Replace file",
		"Nicht speichern", "Verwerfen", "Ohne Speichern schließen", "Überschreiben", "Alle ersetzen",
		"Ne pas enregistrer", "Fermer sans enregistrer", "Écraser", "Tout remplacer",
		"No guardar", "Cerrar sin guardar", "Descartar", "Sobrescribir", "Reemplazar todo",
		"Non salvare", "Chiudi senza salvare", "Sovrascrivi", "Não salvar", "Não guardar", "Fechar sem salvar",
		"Quit", "Close", "_Close", "Close tab", "File: Exit", "Beenden", "Fermer", "Quitter", "Cerrar", "Salir", "Chiudi", "Fechar", "Afsluiten", "Закрыть", "关闭", "退出(Q)", "閉じる", "닫기",
		"Niet opslaan", "Sluiten zonder opslaan", "Overschrijven",
		"Не сохранять", "Закрыть без сохранения", "Заменить всё",
		"All 3 files will be deleted permanently.", "Deleting cannot be undone", "The removal is final.", "Dateien werden gelöscht", "Les fichiers seront supprimés", "Your changes will be lost", "Changes you made may not be saved.",
		"Files are removed for good.", "Se eliminarán 3 archivos", "I file verranno eliminati", "Файлы будут удалены", "この操作は元に戻せません", "Force stop", "Throw away", "Odstrániť", "Izbriši",
		"不保存", "不保存(N)", "不儲存", "全部替换", "保存しない", "保存しない(&N)", "変更を破棄", "저장 안 함", "저장하지 않고 닫기", "덮어쓰기",
	} {
		assert.Check(t, gate.firstWord(text) != "", "%q is not one of them", text)
	}
	for _, text := range []string{
		"Deleted items", "Gelöscht", "Éléments supprimés", "Undo", "It can be undone", "Lost and found", "Removed", "Permanent link", "Background removal", "Noise suppression", "The connection is lost",
		"Save", "Don't show again", "Replace", "Find and Replace", "Replace next", "Cancel", "Disclose", "Exhibit", "Saved without errors", "Speichern", "Ersetzen",
		"Suchen und Ersetzen", "Enregistrer", "Remplacer", "Guardar", "Reemplazar", "Salva", "Salvar", "Guardar como", "Opslaan", "Vervangen",
		"Сохранить", "Заменить", "保存", "替换", "上書き保存", "置換", "저장", "바꾸기",
	} {
		assert.Check(t, is.Equal(gate.firstWord(text), ""), "%q is one of them", text)
	}
}

// TestWordsAsTheyAreWritten checks destructive words in many scripts and languages, and
// ordinary buttons, which do not count.
func TestWordsAsTheyAreWritten(t *testing.T) {
	gate := NewDestructiveMarker(lexicon.DestructiveWords())
	for _, text := range []string{
		"Lo\u0308schen all", "Schliessen", "SCHLIE\u1e9eEN", "\uff24elete wide", "D\u0435lete now", "D\u03b5lete", "S\u0435nd", "\u0405end", "DeleteAll", "XMLDelete", "deleteAll", "delete_account",
		"D_elete", "De&lete", "_Log Out", "Deletes", "Deleting", "\U0001d403\U0001d41e\U0001d425\U0001d41e\U0001d42d\U0001d41e", "De\u0336lete", "✕", "🗑", "🗑\ufe0f", "Inbox🗑",
		"Log out", "Purge", "Order now", "Empty Bin", "Clear all", "Restart", "Reboot", "Power Off", "Shut down", "Kill", "Terminate", "End Task", "Post", "Reply", "Checkout",
		"Unsubscribe", "Deactivate", "Revert", "Truncate", "Force push", "Absenden", "Abschicken", "Zahlungspflichtig bestellen", "Papierkorb leeren", "Passer la commande", "Finalizar compra",
		"注文する", "提交订单", "주문하기", "Заказать", "حذف", "حَذف", "إغلاق دون حفظ", "हटाएँ", "खरीदें", "মুছে ফেলুন", "পাঠান", "حذف کریں", "خریدیں", "Hapus", "Kirim", "Beli", "SİL", "KALDIR", "Satın al",
		"Xo\u0301a", "Gửi", "Mua", "நீக்கு", "வாங்கு", "తొలగించు", "కొనండి", "हटवा", "खरेदी करा", "ਮਿਟਾਓ", "ਖਰੀਦੋ", "Futa", "Tuma", "Nunua", "پاک کردن", "خرید", "ลบไฟล์", "ซื้อ",
		"Usuń", "Kup teraz", "Видалити", "Купити", "Διαγραφή", "ΔΙΑΓΡΑΦΗ", "Έξοδος", "ΕΞΟΔΟΣ", "Αγορά", "מחק", "קנה", "Ta bort", "Köp", "Slet", "Køb", "Slett", "Kjøp", "Poista", "Osta",
		"Smazat", "Koupit", "Törlés", "Vásárlás", "Șterge", "Cumpără", "Suprimeix", "Compra",
	} {
		assert.Check(t, gate.firstWord(text) != "", "%q is not one of them", text)
	}
	for _, text := range []string{
		"Save", "Open", "Next", "Apply", "OK", "Search", "Copy", "Paste", "Back", "Help", "New", "Edit", "View", "Print", "Settings", "Confirm", "Cancel", "Undo", "Yes", "No", "Go", "GUI",
		"Closed captions", "Order by", "Sort order", "Poster", "Skills", "Compose", "Replying", "Rock & Roll", "1920×1080", "3 × 4", "×", "SaveAs", "openFile", "Clear", "Log", "Sign in", "Log in", "File_name",
		"Сохранить", "Открыть", "Поиск", "Αποθήκευση", "Άνοιγμα", "حفظ", "فتح", "सहेजें", "খুলুন", "Simpan", "Kaydet", "Lưu", "Mở", "บันทึก", "Zapisz", "Otwórz", "Зберегти", "שמור", "Spara", "Gem", "Lagre",
		"Tallenna", "Uložit", "Mentés", "Salvează", "Desa", "Guardar", "Öffnen", "Speichern", "Enregistrer", "Ouvrir",
	} {
		assert.Check(t, is.Equal(gate.firstWord(text), ""), "%q is one of them", text)
	}
}

// TestWhatIsHitIsJudged checks that all text of the element counts, and the key that presses it.
func TestWhatIsHitIsJudged(t *testing.T) {
	gate := NewDestructiveMarker(lexicon.DestructiveWords())
	for _, c := range []struct {
		hit  aai.TargetElement
		want bool
	}{
		{aai.TargetElement{Role: "button", Name: "Save", AllText: "Save"}, false},
		{aai.TargetElement{Role: "button", Name: "OK", AllText: "OK Deletes the folder. Delete"}, true},
		{aai.TargetElement{Role: "textbox", Name: "Notes", Key: "ctrl+w", Irreversible: true}, true},
		{aai.TargetElement{Role: "button", Name: "Delete", UnknownEffect: true}, false}, // a key at it presses nothing
	} {
		r := operating(program("editor", "e"), "click")
		r.Call.Args = map[string]any{"x": 1, "y": 2}
		app := *r.App
		app.Operator = fakeoperator.Operator{Resolve: func(context.Context, *aai.Call) aai.TargetElement { return c.hit }}
		r.App = &app
		if check(gate, r); r.Destructive != c.want || r.Element != c.hit {
			t.Errorf("%s: destructive is %t, the hit is %v", c.hit, r.Destructive, r.Element)
		}
	}
}
