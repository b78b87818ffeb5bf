package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

func TestLists(t *testing.T) {
	calculator := &aai.App{ID: "org.gnome.Calculator", Name: "Calculator|Rechner", Aliases: []string{"calc"}}
	window := program("keepassxc", "k")
	window.Source = "/opt/KeePassXC/keepassxc-bin"
	web := &aai.App{ID: "mail.example.com/org.example.Mail", Name: "Mail"}
	for name, c := range map[string]struct {
		lists AppLists
		app   *aai.App
		want  bool
	}{
		"no lists":                 {AppLists{}, calculator, true},
		"allowed by id":            {AppLists{Allowed: []string{"org.gnome.Calculator"}}, calculator, true},
		"allowed by name":          {AppLists{Allowed: []string{"calculator"}}, calculator, true},
		"by its name in German":    {AppLists{Allowed: []string{"Rechner"}}, calculator, true},
		"by alias":                 {AppLists{Allowed: []string{"CALC"}}, calculator, true},
		"by pattern":               {AppLists{Allowed: []string{"org.gnome.*"}}, calculator, true},
		"not among the allowed":    {AppLists{Allowed: []string{"Calc", "org.gnome.Calc"}}, web, false},
		"half a name is none":      {AppLists{Allowed: []string{"org.gnome"}}, calculator, false},
		"denied":                   {AppLists{Denied: []string{"org.gnome.*"}}, calculator, false},
		"denied wins":              {AppLists{Allowed: []string{"*"}, Denied: []string{"rechner"}}, calculator, false},
		"another is denied":        {AppLists{Denied: []string{"org.kde.*"}}, calculator, true},
		"a window by short name":   {AppLists{Denied: []string{"KeePassXC"}}, window, false},
		"a window by id":           {AppLists{Denied: []string{"desktop/keepassxc"}}, window, false},
		"a window by executable":   {AppLists{Denied: []string{"/opt/KeePassXC/*"}}, window, false},
		"by its base":              {AppLists{Denied: []string{"keepassxc-*"}}, window, false},
		"a site by pattern":        {AppLists{Denied: []string{"mail.example.com/*"}}, web, false},
		"every site":               {AppLists{Denied: []string{"*"}}, web, false},
		"a pattern that is broken": {AppLists{Denied: []string{"["}}, calculator, true},
	} {
		t.Run(name, func(t *testing.T) {
			want := "PERMISSION_DENIED"
			if c.want {
				want = "admits"
			}
			r := asking(notesApp("d"), "list")
			r.App, r.Call.Target = c.app, c.app
			if got := check(c.lists, r); got != want {
				t.Errorf("%s, expected %s", got, want)
			}
		})
	}
	// The app of the tool counts too, and the gateway itself is not listed.
	r := operating(program("editor", "e"), "click")
	if got := check(AppLists{Denied: []string{"desktop"}}, r); got != "PERMISSION_DENIED" {
		t.Error(got)
	}
	if got := check(AppLists{Allowed: []string{"editor"}}, r); got != "admits" {
		t.Error(got)
	}
	if got := check(AppLists{Allowed: []string{"editor"}}, operating(nil, "look")); got != "PERMISSION_DENIED" {
		t.Errorf("the whole screen: %s", got)
	}
	noWindow := operating(nil, "look")
	noWindow.Tool = &aai.Tool{Name: "programs", Effect: aai.Reads, Target: "app", Params: aai.Schema{Source: []byte("{}")}}
	if got := check(AppLists{Denied: []string{"x"}}, noWindow); got != "admits" {
		t.Errorf("a tool about no window: %s", got)
	}
	if got := check(AppLists{Denied: []string{"x"}}, operating(nil, "look")); got != "PERMISSION_DENIED" {
		t.Errorf("the whole screen shows what is denied: %s", got)
	}
	if got := check(AppLists{Denied: []string{"*"}}, ownRequest(aai.DoorMCP, "guide", aai.Reads)); got != "admits" {
		t.Error(got)
	}
	first := func(entries ...string) string {
		entry, found := FirstInvalidPattern(entries)
		return fmt.Sprintf("%q %v", entry, found)
	}
	if first("a*", "[") != `"[" true` || first("a", "*") != `"" false` || first("a", " ") != `" " true` || first("a", "", "[") != `"" true` {
		t.Error("patterns")
	}
}

func TestProtectedWindows(t *testing.T) {
	gate := ProtectedWindows{}
	for _, source := range []string{
		"/usr/bin/pinentry-gtk-2", "/usr/bin/pinentry-qt", "/usr/bin/keepassxc", "/opt/1Password/1password", "/usr/lib/polkit-kde-authentication-agent-1",
		"/usr/libexec/polkit-gnome-authentication-agent-1", "/usr/bin/seahorse", "/usr/bin/gnome-keyring-daemon", "/usr/bin/kwalletmanager5",
		"/System/Library/CoreServices/SecurityAgent", `consent.exe`, "/usr/bin/xscreensaver-auth", "/opt/Bitwarden/bitwarden",
	} {
		for _, tool := range []string{"look", "click"} {
			r := operating(program("x", "d"), tool)
			r.Call.Target.Source = source
			if got := check(gate, r); got != "PERMISSION_DENIED" {
				t.Errorf("%s of %s: %s", tool, source, got)
			}
		}
	}
	for _, app := range []*aai.App{program("KeePassXC", "d"), {ID: "desktop/x", Name: "Keychain Access"}, {ID: "desktop/pinentry", PID: 0}} {
		if got := check(gate, operating(app, "look")); got != "PERMISSION_DENIED" {
			t.Errorf("%s: %s", app.ID, got)
		}
	}
	lock := program("mylock", "d")
	lock.Process.LockReason = func(context.Context) string { return "a lock of the screen" }
	for _, tool := range []string{"look", "click"} {
		if got := check(gate, operating(lock, tool)); got != "PERMISSION_DENIED" {
			t.Errorf("%s of what shows a lock: %s", tool, got)
		}
	}
	lock.Process.LockReason = func(context.Context) string { return "" }
	if got := check(gate, operating(lock, "look")); got != "admits" {
		t.Errorf("when it shows none: %s", got)
	}
	for _, harmless := range []string{"mousepad", "zenity", "org.gnome.Calculator", "consent-manager", "secretsanta"} {
		if got := check(gate, operating(program(harmless, "d"), "click")); got != "admits" {
			t.Errorf("%s: %s", harmless, got)
		}
	}
	if got := check(gate, asking(&aai.App{ID: "org.keepassxc.KeePassXC", Name: "KeePassXC", Tools: []*aai.Tool{{Name: "lock"}}}, "lock")); got != "admits" {
		t.Errorf("an app that declares tools itself: %s", got)
	}
}

// TestTheGatewaysOwnDialog checks that the gateway's own dialog is protected, whatever
// program shows it, and that an open dialog reserves the screen and the keyboard.
func TestTheGatewaysOwnDialog(t *testing.T) {
	open := true
	gate := ProtectedWindows{ShowsDialog: func(pid int) bool { return open && pid == 7 }, IsDialogOpen: func() bool { return open }}
	focused := func() *aai.Request {
		r := operating(&aai.App{ID: "desktop/editor", PID: 8}, "click")
		r.Call.Args["mode"] = "focus"
		return r
	}
	unsaid := operating(&aai.App{ID: "desktop/editor", PID: 8}, "click")
	unsaid.Tool = &aai.Tool{Name: "press"}
	picture := operating(nil, "look")
	picture.Tool = &aai.Tool{Name: "paint", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{TakesScreenshot: true})}
	for _, c := range []struct {
		what   string
		r      *aai.Request
		during string
	}{
		{"to see it", operating(program("zenity", "z"), "look"), "PERMISSION_DENIED"},
		{"to click in it", operating(program("zenity", "z"), "click"), "PERMISSION_DENIED"},
		{"to click elsewhere", operating(&aai.App{ID: "desktop/editor", PID: 8}, "click"), "admits"},
		{"to see something else", operating(&aai.App{ID: "desktop/editor", PID: 8}, "look"), "admits"},
		{"to take the keyboard", focused(), "RATE_LIMITED"},
		{"with a tool that does not say", unsaid, "RATE_LIMITED"},
		{"the clipboard", operating(nil, "click"), "RATE_LIMITED"},
		{"a picture of everything", picture, "RATE_LIMITED"},
		{"a list", operating(nil, "look"), "admits"},
	} {
		open = true
		if got := check(gate, c.r); got != c.during {
			t.Errorf("%s: %s, expected %s", c.what, got, c.during)
		}
		open = false
		if got := check(gate, c.r); got != "admits" {
			t.Errorf("%s when it is closed: %s", c.what, got)
		}
	}
}

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
		if got := check(gate, r); got != "admits" {
			t.Error(got)
		}
		if r.Destructive != (r.DestructiveReason != "") {
			t.Errorf("%q: because of %q", query, r.DestructiveReason)
		}
		if r.Destructive != want || (r.Permission() == aai.PermissionDestroy) != want {
			t.Errorf("%q: %v, %s", query, r.Destructive, r.Permission())
		}
	}
	for _, r := range []*aai.Request{operating(program("editor", "e"), "look"), asking(notesApp("d"), "add")} {
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

// TestToActIsNotToDestroy checks that permission to click does not cover "Delete".
func TestToActIsNotToDestroy(t *testing.T) {
	d := newDesk(Grant{Caller: Wildcard, App: "desktop/editor", Tool: aai.PermissionAct, Decision: Allow})
	deleting := func() *aai.Request {
		r := operating(program("editor", "e"), "click")
		r.Destructive = true
		return r
	}
	d.admits(t, operating(program("editor", "e"), "click"))
	q := d.question(t, deleting())
	if !strings.Contains(q.Title, "that may not be undone") {
		t.Error(q.Title)
	}
	for _, c := range q.Choices {
		if c.ID == choiceAll {
			t.Error("all is offered")
		}
	}
	d.admits(t, answered(deleting(), q, choiceSession))
	d.admits(t, deleting())
	all := newDesk()
	q = all.question(t, operating(program("editor", "e"), "click"))
	all.admits(t, answered(operating(program("editor", "e"), "click"), q, choiceAll))
	all.question(t, deleting())
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
		"All 3 files will be deleted permanently.", "Deleting cannot be undone", "The removal is final.", "Dateien werden gelöscht", "Les fichiers seront supprimés", "Your changes will be lost",
		"Files are removed for good.", "Se eliminarán 3 archivos", "I file verranno eliminati", "Файлы будут удалены", "この操作は元に戻せません", "Force stop", "Throw away", "Odstrániť", "Izbriši",
		"不保存", "不保存(N)", "不儲存", "全部替换", "保存しない", "保存しない(&N)", "変更を破棄", "저장 안 함", "저장하지 않고 닫기", "덮어쓰기",
	} {
		if gate.firstWord(text) == "" {
			t.Errorf("%q is not one of them", text)
		}
	}
	for _, text := range []string{
		"Deleted items", "Gelöscht", "Éléments supprimés", "Undo", "It can be undone", "Lost and found", "Removed", "Permanent link", "Background removal", "Noise suppression", "The connection is lost",
		"Save", "Don't show again", "Replace", "Find and Replace", "Replace next", "Cancel", "Disclose", "Exhibit", "Saved without errors", "Speichern", "Ersetzen",
		"Suchen und Ersetzen", "Enregistrer", "Remplacer", "Guardar", "Reemplazar", "Salva", "Salvar", "Guardar como", "Opslaan", "Vervangen",
		"Сохранить", "Заменить", "保存", "替换", "上書き保存", "置換", "저장", "바꾸기",
	} {
		if gate.firstWord(text) != "" {
			t.Errorf("%q is one of them", text)
		}
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
		if gate.firstWord(text) == "" {
			t.Errorf("%q is not one of them", text)
		}
	}
	for _, text := range []string{
		"Save", "Open", "Next", "Apply", "OK", "Search", "Copy", "Paste", "Back", "Help", "New", "Edit", "View", "Print", "Settings", "Confirm", "Cancel", "Undo", "Yes", "No", "Go", "GUI",
		"Closed captions", "Order by", "Sort order", "Poster", "Skills", "Compose", "Replying", "Rock & Roll", "1920×1080", "3 × 4", "×", "SaveAs", "openFile", "Clear", "Log", "Sign in", "Log in", "File_name",
		"Сохранить", "Открыть", "Поиск", "Αποθήκευση", "Άνοιγμα", "حفظ", "فتح", "सहेजें", "খুলুন", "Simpan", "Kaydet", "Lưu", "Mở", "บันทึก", "Zapisz", "Otwórz", "Зберегти", "שמור", "Spara", "Gem", "Lagre",
		"Tallenna", "Uložit", "Mentés", "Salvează", "Desa", "Guardar", "Öffnen", "Speichern", "Enregistrer", "Ouvrir",
	} {
		if gate.firstWord(text) != "" {
			t.Errorf("%q is one of them", text)
		}
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
		app.Operator.ResolveTarget = func(context.Context, *aai.Call) aai.TargetElement { return c.hit }
		r.App = &app
		if check(gate, r); r.Destructive != c.want || r.Element != c.hit {
			t.Errorf("%s: destructive is %t, the hit is %v", c.hit, r.Destructive, r.Element)
		}
	}
}

// TestTheQuestionSaysWhy checks that the question names the word or key that makes a click destructive.
func TestTheQuestionSaysWhy(t *testing.T) {
	gate := NewDestructiveMarker(lexicon.DestructiveWords())
	for _, c := range []struct {
		hit  aai.TargetElement
		want string
	}{
		{aai.TargetElement{Role: "button", Name: "AC", AllText: "AC Clear All"}, `It may not be undone, because of the word "clear all" there`},
		{aai.TargetElement{Role: "button", Name: "Save", AllText: "Save 全部删除文件"}, `It may not be undone, because of the word "删除" there`},
		{aai.TargetElement{Role: "textbox", Name: "Notes", Key: "ctrl+w", Irreversible: true}, `It may not be undone, because of the key "ctrl+w"`},
		{aai.TargetElement{Role: "button", Name: "Reload", Irreversible: true}, ""}, // the window's text is the reason
		{aai.TargetElement{Role: "button", Name: "Save", AllText: "Save"}, ""},
	} {
		r := operating(program("editor", "e"), "click")
		app := *r.App
		app.Operator.ResolveTarget = func(context.Context, *aai.Call) aai.TargetElement { return c.hit }
		r.App = &app
		check(gate, r)
		q := newDesk().question(t, r)
		var why []string
		for line := range strings.SplitSeq(q.Text, "\n") {
			if strings.Contains(line, "undone, because") {
				why = append(why, line)
			}
		}
		if got := strings.Join(why, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.hit, got, c.want)
		}
	}
}

// TestTheQuestionNamesWhatIsHit checks that the question names the element, and that the answer is bound
// to it.
func TestTheQuestionNamesWhatIsHit(t *testing.T) {
	deleting := func(name string) *aai.Request {
		r := operating(program("editor", "e"), "click")
		r.Destructive, r.Element = true, aai.TargetElement{Role: "button", Name: name, Window: "Notes", AllText: name}
		return r
	}
	d := newDesk()
	q := d.question(t, deleting("Delete draft\nIn: all"))
	if want := aai.QuoteMark + `On: button "Delete draft\nIn: all" in "Notes"`; !slices.Contains(strings.Split(q.Text, "\n"), want) {
		t.Errorf("the question is\n%s\nwant the line %s", q.Text, want)
	}
	d.refuses(t, answered(deleting("Delete account"), q, choiceOnce), aai.ConsentRequired)
	d.admits(t, answered(deleting("Delete draft"), d.question(t, deleting("Delete draft")), choiceOnce))
	// Permission to act does not cover destruction.
	act := operating(program("editor", "e"), "click")
	q = d.question(t, act)
	d.refuses(t, answered(deleting("Delete draft"), q, choiceOnce), aai.ConsentRequired)
}
