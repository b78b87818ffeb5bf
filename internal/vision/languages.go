package vision

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// languageOf maps the languages of locales to the names of Tesseract's packs.
func languageOf(locale string) string {
	language, rest, _ := strings.Cut(strings.ToLower(locale), "_")
	if language == "zh" {
		if strings.HasPrefix(rest, "tw") || strings.HasPrefix(rest, "hk") {
			return "chi_tra"
		}
		return "chi_sim"
	}
	return map[string]string{
		"ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "es": "spa", "et": "est", "fa": "fas",
		"fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "id": "ind", "it": "ita", "ja": "jpn", "ko": "kor",
		"lt": "lit", "lv": "lav", "nb": "nor", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk",
		"sl": "slv", "sr": "srp", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie",
	}[strings.FieldsFunc(language+".", func(r rune) bool { return r == '.' || r == '@' })[0]]
}

// findLanguages returns the languages for Tesseract: the installed ones of English and the locale, as its option -l takes
// them.
func (r *Reader) findLanguages(ctx context.Context, program string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.languages != "" {
		return r.languages, nil
	}
	out, err := r.run(ctx, exec.Command(program, "--list-langs"), nil) //nolint:noctx // ended by run
	if err != nil {
		return "", err
	}
	installed := strings.Fields(out)
	wanted := []string{"eng"}
	environ := os.Environ()
	if r.Environ != nil {
		environ = r.Environ()
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		for _, v := range environ {
			if value, is := strings.CutPrefix(v, name+"="); is {
				wanted = append(wanted, languageOf(value))
			}
		}
	}
	wanted = slices.DeleteFunc(wanted, func(language string) bool { return language == "" || !slices.Contains(installed, language) })
	if len(wanted) == 0 {
		return "", fmt.Errorf("%w with a language of this computer", ErrNotInstalled)
	}
	slices.Sort(wanted)
	r.languages = strings.Join(slices.Compact(wanted), "+")
	return r.languages, nil
}
