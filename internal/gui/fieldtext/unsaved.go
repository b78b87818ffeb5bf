package fieldtext

import (
	"slices"
	"strings"
	"unicode"
)

// IsUnsavedTitle reports whether a window title marks unsaved changes: by a star or dot at the
// document's name, or by a word. Not every program marks them.
func IsUnsavedTitle(title string) bool {
	if strings.HasPrefix(title, "*") || strings.HasPrefix(title, "•") || strings.HasPrefix(title, "●") {
		return true
	}
	for _, word := range strings.Fields(title) {
		if strings.HasSuffix(word, "*") || word == "●" || word == "•" {
			return true
		}
	}
	lower := strings.ToLower(title)
	return slices.ContainsFunc([]string{
		"[modified]", "(modified)", "[unsaved]", "(unsaved)", "— edited", "[geändert]", "(geändert)", "[modifié]", "(modifié)", "[modificado]", "(modificado)", "[modificat",
		"[изменён]", "[изменено]", "[已修改]", "（已修改）", "[変更済み]",
	}, func(mark string) bool { return strings.Contains(lower, mark) })
}

// IsReloadLabel reports whether a label means a reload that replaces the current content.
func IsReloadLabel(says string) bool {
	words := strings.FieldsFunc(strings.ToLower(says), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{
			"reload", "refresh", "revert", "neuladen", "aktualisieren", "recharger", "actualiser", "actualizar", "recargar", "ricarica", "aggiorna", "recarregar", "atualizar",
			"vernieuwen", "обновить", "перезагрузить", "刷新", "重新加载", "重新整理", "再読み込み", "새로고침",
		}, word)
	}) || strings.Contains(strings.ToLower(says), "neu laden")
}
