package dialog

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// unicodeLocale is a locale of UTF-8 that needs no installed language.
const unicodeLocale = "C.UTF-8"

// localeVariables returns the variables that set the locale of a dialog's program. The
// character set is always UTF-8: in the locale C, or in one that is not installed, zenity
// fails and the others show wrong characters. The language stays the person's if it is
// installed.
func localeVariables(getenv func(string) string) []string {
	wanted := ""
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if wanted = getenv(name); wanted != "" {
			break
		}
	}
	language, _, _ := strings.Cut(wanted, ".")
	language, _, _ = strings.Cut(language, "@")
	chosen := unicodeLocale
	for _, locale := range []string{wanted, language + ".UTF-8", unicodeLocale, "en_US.UTF-8"} {
		if isUnicode(locale) {
			chosen = locale
			break
		}
	}
	languages := getenv("LANGUAGE")
	if languages == "" && chosen != wanted && language != "C" && language != "POSIX" {
		languages = language
	}
	return []string{"LC_ALL=" + chosen, "LANGUAGE=" + languages}
}

// isUnicode reports whether the locale is installed and uses UTF-8, according to the C
// library's program "locale". Without that program it returns false.
func isUnicode(locale string) bool {
	program := lookUp("locale")
	if program == "" || locale == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "charmap")
	cmd.Env = []string{"LC_ALL=" + locale}
	out, err := cmd.Output()
	return err == nil && strings.TrimSpace(string(out)) == "UTF-8"
}
