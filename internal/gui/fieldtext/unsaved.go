package fieldtext

import (
	"slices"
	"strings"
	"unicode"
)

// IsUnsavedTitle reports whether a window says by its title that what is in it was not saved: by a
// star or a dot at the document's name, or in a word. Not every program does.
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

// IsReloadLabel reports whether people read on what is pressed that it reads something anew, in
// the place of what is there.
func IsReloadLabel(says string) bool {
	words := strings.FieldsFunc(strings.ToLower(says), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{
			"reload", "refresh", "revert", "neuladen", "aktualisieren", "recharger", "actualiser", "actualizar", "recargar", "ricarica", "aggiorna", "recarregar", "atualizar",
			"vernieuwen", "обновить", "перезагрузить", "刷新", "重新加载", "重新整理", "再読み込み", "새로고침",
		}, word)
	}) || strings.Contains(strings.ToLower(says), "neu laden")
}
