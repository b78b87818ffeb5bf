package desktop

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// otOracle counts with the real vocabulary.
func otOracle(t testing.TB) func(string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) int {
		ids, _, err := codec.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
}

// otWords are what windows say, by language.
var otWords = map[string]string{
	"english": `File|Edit|View|Search|Document|Help|New Window|Open Recent|Save As...|Close Tab|Undo|Redo|Cut|Copy|Paste|Select All|Find and Replace|Preferences|Show Line Numbers|Word Wrap|Fullscreen|About|Reload|Print Preview|Enter the name of the new folder|The file has been changed on disk. Do you want to reload it?|Sign in to continue|Remember me on this computer|Forgotten password?|Privacy and security|Downloads|Recently used documents|Could not open the file because it does not exist|Attach files from your computer|Mark as unread|Move to archive|12 items selected|Available updates|Restart required|Network connections|Choose an application to open this file|Sort by date modified|Cancel|OK`,
	"german":  `Datei|Bearbeiten|Ansicht|Suchen|Dokument|Hilfe|Neues Fenster|Zuletzt geöffnete Dateien|Speichern unter …|Reiter schließen|Rückgängig|Wiederholen|Ausschneiden|Kopieren|Einfügen|Alles auswählen|Suchen und Ersetzen|Einstellungen|Zeilennummern anzeigen|Zeilenumbruch|Vollbild|Über dieses Programm|Neu laden|Druckvorschau|Geben Sie den Namen des neuen Ordners ein|Die Datei wurde geändert. Möchten Sie sie neu laden?|Anmelden, um fortzufahren|Kennwort vergessen?|Datenschutz und Sicherheit|Heruntergeladene Dateien|Die Verbindung zum Server wurde unterbrochen|Benachrichtigungseinstellungen|Als ungelesen markieren|Ausgewählte Elemente verschieben|Verfügbare Aktualisierungen|Abbrechen|Übernehmen`,
	"chinese": `文件|编辑|查看|搜索|文档|帮助|新建窗口|打开最近的文件|另存为|关闭标签页|撤销|重做|剪切|复制|粘贴|全选|查找和替换|首选项|显示行号|自动换行|全屏|关于|重新加载|打印预览|请输入新文件夹的名称|磁盘上的文件已被更改。是否要重新加载？|登录以继续|忘记密码？|隐私与安全|下载|无法打开文件，因为它不存在|标记为未读|移动到存档|可用更新|需要重新启动|网络连接|选择一个应用程序打开此文件|按修改日期排序|取消|确定`,
	"emoji":   `📁 Files|📅 Calendar|✅ Done|❌ Cancel|🗑️ Delete|⭐ Favourites|🔍 Search|💬 Messages 3|🎉 Party planning|👍 12|❤️ 4|😂 7|🔔 Notifications|⚙️ Settings|📎 report.pdf|🚀 Launch|🌍 World|☀️ 21 °C|🎵 Music|📷 Camera`,
	"code":    `func (k *sketch) resume(cursor string) (int, error)|if err != nil {|return aai.Errorf(aai.InvalidParams, "after: %q", cursor)|os.environ.get("HOME")|node_modules/@types/react/index.d.ts|SELECT id, name FROM users WHERE age > 21;|https://example.org/api/v2/items?limit=50&offset=100|./configure --prefix=/usr/local --enable-shared|const handleClick = async (event) => {|git commit -m "Fix the thing"|MAX_BUFFER_SIZE|get_user_by_id|XMLHttpRequest|0x7ffee4c0|std::vector<std::string>|#include <stdio.h>|README.md|package-lock.json|src/main/java/App.java|<div class="container">`,
	"russian": `Файл|Правка|Вид|Поиск|Документ|Справка|Новое окно|Открыть недавние|Сохранить как...|Закрыть вкладку|Отменить|Вернуть|Вырезать|Копировать|Вставить|Выделить всё|Найти и заменить|Настройки|Показывать номера строк|Во весь экран|О программе|Файл был изменён. Загрузить его снова?|Войдите, чтобы продолжить|Забыли пароль?|Загрузки|Не удалось открыть файл|Отмена`,
}

// otWindow is a window that says the given things.
func otWindow(t testing.TB, words string) *Snapshot {
	roles := []string{"button", "menuitem", "checkbox checkable", "text", "link", "label", "tab selectable", "heading", "radio checkable checked", "button", "textbox editable"}
	var b strings.Builder
	b.WriteString("window \"Test\" active\n")
	for i, name := range strings.Split(words, "|") {
		role, states, _ := strings.Cut(roles[i%len(roles)], " ")
		value := ""
		if role == "textbox" {
			value = fmt.Sprintf(" value=%q", name)
		}
		fmt.Fprintf(&b, "  %s %q %s%s\n", role, name, states, value)
	}
	return otSnapshot(t, b.String())
}

// TestEstimateTokens holds the estimate of whole outlines against the vocabulary.
func TestEstimateTokens(t *testing.T) {
	count := otOracle(t)
	outlines := map[string]string{}
	for language, words := range otWords {
		s := otWindow(t, words)
		outlines[language] = otText(t, s, OutlineOptions{Root: -1})
		outlines[language+", compact"] = otText(t, s, OutlineOptions{Root: -1, Compact: true})
		_, page, err := OutlineJSON(s, OutlineOptions{Root: -1, Budget: 9000})
		if err != nil {
			t.Fatal(err)
		}
		outlines[language+", JSON"] = page.Text
	}
	for name, screen := range map[string]string{
		"editor": otEditor, "calculator": otCalculator, "form": otForm, "table": otTable(200), "files": otFiles(), "docs": otDocs(60), "sheet": otSheet(),
	} {
		for i, p := range otPages(t, otSnapshot(t, screen), OutlineOptions{Root: -1}) {
			outlines[fmt.Sprintf("%s, page %d", name, i+1)] = p.Text
		}
	}
	for name, text := range outlines {
		estimate, real := EstimateTokens(text), count(text)
		t.Logf("%-20s %5d of %5d: %+.1f %%", name, estimate, real, 100*float64(estimate-real)/float64(real))
		if float64(estimate) < 0.97*float64(real) || float64(estimate) > 1.15*float64(real)+1 {
			t.Errorf("%s: estimated %d, it is %d tokens", name, estimate, real)
		}
	}
}

// TestEstimateTokensOfPlainText: without the frame of an outline, which is exact,
// the estimate may be some more off.
func TestEstimateTokensOfPlainText(t *testing.T) {
	count := otOracle(t)
	for language, words := range otWords {
		text := strings.ReplaceAll(words, "|", "\n")
		estimate, real := EstimateTokens(text), count(text)
		t.Logf("%-20s %5d of %5d: %+.1f %%", language, estimate, real, 100*float64(estimate-real)/float64(real))
		if float64(estimate) < 0.95*float64(real) || float64(estimate) > 1.25*float64(real) {
			t.Errorf("%s: estimated %d, it is %d tokens", language, estimate, real)
		}
	}
}

// TestPiecesAreTheEncodings: a text is as many tokens as its pieces are together,
// so no token spans two of them.
func TestPiecesAreTheEncodings(t *testing.T) {
	count := otOracle(t)
	texts := []string{"don't they'll  x  \n\n  HTMLElement camelCase 12345 [e12]\n  button \"Save\"…\t\t日本 a\u0301 ½ x/\n/y"}
	for _, words := range otWords {
		texts = append(texts, strings.ReplaceAll(words, "|", "  \n"))
	}
	for _, text := range texts {
		sum := 0
		for rest := text; rest != ""; {
			_, size := firstPiece(rest)
			sum += count(rest[:size])
			rest = rest[size:]
		}
		if whole := count(text); sum != whole {
			t.Errorf("%d tokens in pieces, %d in one: %q", sum, whole, text)
		}
	}
}

func TestEstimateOfLinesAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom(otNames))).Draw(t, "lines")
		sum := 0
		for _, line := range lines {
			sum += milliTokens("  x" + line + "\n")
		}
		whole := ""
		for _, line := range lines {
			whole += "  x" + line + "\n"
		}
		if milliTokens(whole) > sum {
			t.Fatalf("%d, but %d by lines", milliTokens(whole), sum)
		}
	})
}

func FuzzEstimateTokens(f *testing.F) {
	for _, s := range []string{"", " ", "\n", "Save", "\xff", "日本語", "a\u0301", "'s", "  \n /", "１２３", "👩‍💻"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := EstimateTokens(s)
		if (n == 0) != (s == "") || n > 4*len(s) {
			t.Errorf("%d tokens: %q", n, s)
		}
		for rest := s; rest != ""; {
			_, size := firstPiece(rest)
			if size < 1 || size > len(rest) || utf8.ValidString(rest) && !utf8.ValidString(rest[:size]) {
				t.Fatalf("a piece of %d bytes: %q", size, rest)
			}
			rest = rest[size:]
		}
	})
}

func BenchmarkOutline(b *testing.B) {
	for _, c := range []struct {
		name   string
		screen string
	}{{"form", otForm}, {"docs-1300", otDocs(78)}, {"table-1200", otTable(200)}, {"docs-10000", otDocs(590)}, {"table-10000", otTable(1670)}} {
		s := otSnapshot(b, c.screen)
		b.Run(fmt.Sprintf("%s=%d", c.name, len(s.Elements)), func(b *testing.B) {
			for b.Loop() {
				if _, err := Outline(s, OutlineOptions{Root: -1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	before, after := otSnapshot(b, otDocs(590)), otSnapshot(b, strings.Replace(otDocs(590), "Event 300", "Event 3000", 2))
	for b.Loop() {
		if d := Diff(before, after, DiffOptions{}); d.Text == "" {
			b.Fatal("nothing changed")
		}
	}
}
