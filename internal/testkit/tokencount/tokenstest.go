// Package tokencount counts tokens in tests with the vocabulary of a model.
package tokencount

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// Count returns the number of tokens of the text in the vocabulary o200k_base.
func Count(t testing.TB, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// SampleTexts returns, by language, typical texts of windows, separated by |.
func SampleTexts() map[string]string {
	return map[string]string{
		"english": `File|Edit|View|Search|Document|Help|New Window|Open Recent|Save As...|Close Tab|Undo|Redo|Cut|Copy|Paste|Select All|Find and Replace|Preferences|Show Line Numbers|Word Wrap|Fullscreen|About|Reload|Print Preview|Enter the name of the new folder|The file has been changed on disk. Do you want to reload it?|Sign in to continue|Remember me on this computer|Forgotten password?|Privacy and security|Downloads|Recently used documents|Could not open the file because it does not exist|Attach files from your computer|Mark as unread|Move to archive|12 items selected|Available updates|Restart required|Network connections|Choose an application to open this file|Sort by date modified|Cancel|OK`,
		"german":  `Datei|Bearbeiten|Ansicht|Suchen|Dokument|Hilfe|Neues Fenster|Zuletzt geöffnete Dateien|Speichern unter …|Reiter schließen|Rückgängig|Wiederholen|Ausschneiden|Kopieren|Einfügen|Alles auswählen|Suchen und Ersetzen|Einstellungen|Zeilennummern anzeigen|Zeilenumbruch|Vollbild|Über dieses Programm|Neu laden|Druckvorschau|Geben Sie den Namen des neuen Ordners ein|Die Datei wurde geändert. Möchten Sie sie neu laden?|Anmelden, um fortzufahren|Kennwort vergessen?|Datenschutz und Sicherheit|Heruntergeladene Dateien|Die Verbindung zum Server wurde unterbrochen|Benachrichtigungseinstellungen|Als ungelesen markieren|Ausgewählte Elemente verschieben|Verfügbare Aktualisierungen|Abbrechen|Übernehmen`,
		"chinese": `文件|编辑|查看|搜索|文档|帮助|新建窗口|打开最近的文件|另存为|关闭标签页|撤销|重做|剪切|复制|粘贴|全选|查找和替换|首选项|显示行号|自动换行|全屏|关于|重新加载|打印预览|请输入新文件夹的名称|磁盘上的文件已被更改。是否要重新加载？|登录以继续|忘记密码？|隐私与安全|下载|无法打开文件，因为它不存在|标记为未读|移动到存档|可用更新|需要重新启动|网络连接|选择一个应用程序打开此文件|按修改日期排序|取消|确定`,
		"emoji":   `📁 Files|📅 Calendar|✅ Done|❌ Cancel|🗑️ Delete|⭐ Favourites|🔍 Search|💬 Messages 3|🎉 Party planning|👍 12|❤️ 4|😂 7|🔔 Notifications|⚙️ Settings|📎 report.pdf|🚀 Launch|🌍 World|☀️ 21 °C|🎵 Music|📷 Camera`,
		"code":    `func (k *sketch) resume(cursor string) (int, error)|if err != nil {|return aai.Errorf(aai.InvalidParams, "after: %q", cursor)|os.environ.get("HOME")|node_modules/@types/react/index.d.ts|SELECT id, name FROM users WHERE age > 21;|https://example.org/api/v2/items?limit=50&offset=100|./configure --prefix=/usr/local --enable-shared|const handleClick = async (event) => {|git commit -m "Fix the thing"|MAX_BUFFER_SIZE|get_user_by_id|XMLHttpRequest|0x7ffee4c0|std::vector<std::string>|#include <stdio.h>|README.md|package-lock.json|src/main/java/App.java|<div class="container">`,
		"russian": `Файл|Правка|Вид|Поиск|Документ|Справка|Новое окно|Открыть недавние|Сохранить как...|Закрыть вкладку|Отменить|Вернуть|Вырезать|Копировать|Вставить|Выделить всё|Найти и заменить|Настройки|Показывать номера строк|Во весь экран|О программе|Файл был изменён. Загрузить его снова?|Войдите, чтобы продолжить|Забыли пароль?|Загрузки|Не удалось открыть файл|Отмена`,
	}
}
