package doctor

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A bundlePart is a file of a bundle.
type bundlePart struct {
	name, description string
	content           string
}

// Bundle writes a new zip with the findings, for a support request, and returns the descriptions of its
// files. It fails if the file exists. The zip contains no secrets: variables and settings by name only,
// no journal records, errors of files without the values that they quote, web addresses without login and query, bus
// addresses by type only, "~" for the home, and "(host)" for the host of a screen.
func (d *Doctor) Bundle(file string) (holds []string, err error) {
	parts, err := d.parts(sanitize.NewRedactor(d.secrets()))
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, p := range parts {
		w, err := archive.Create(p.name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(d.withoutNames(p.content))); err != nil {
			return nil, err
		}
		holds = append(holds, fmt.Sprintf("%-16s %s", p.name, p.description))
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return holds, writeNew(file, packed.Bytes())
}

// writeNew writes a new file completely or not at all.
func writeNew(file string, content []byte) error {
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		e := aai.Errorf(aai.InvalidParams, "%s exists already", file)
		e.Hint = "Name another file, or move that one."
		return e
	}
	if err == nil {
		_, err = out.Write(content)
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, os.Remove(file)) // a partial file is useless
		}
	}
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the report cannot be written: %w", err)
	}
	return nil
}

// reported returns the findings for the report, without values that the errors of files quote.
func reported(found []Finding) []answer.Finding {
	all := make([]answer.Finding, len(found))
	for i, f := range found {
		if f.Check == "settings" || f.Check == "descriptors" {
			f.Saw, f.Details = withoutQuoted(f.Saw), slices.Clone(f.Details)
			for j, line := range f.Details {
				f.Details[j] = withoutQuoted(line)
			}
		}
		all[i] = f.Finding
	}
	return all
}

// withoutQuoted replaces the values that the error of a file quotes. The expected values stay.
func withoutQuoted(text string) string {
	problem, expected, found := strings.Cut(text, "; expected ")
	problem = regexp.MustCompile(`"(?:[^"\\]|\\.)*\\?("|$)`).ReplaceAllString(problem, `"…"`)
	if found {
		return problem + "; expected " + expected
	}
	return problem
}

// parts returns the files of the bundle, redacted.
func (d *Doctor) parts(veil *sanitize.Redactor) ([]bundlePart, error) {
	var findings any
	report, err := json.Marshal(reported(d.found))
	if err == nil {
		err = json.Unmarshal(report, &findings)
	}
	if err == nil { // each text separately, because the redactor drops a text that holds too much of a secret
		report, err = json.MarshalIndent(sanitize.MapTexts(veil.RedactValue(findings), d.redactor()), "", "  ")
	}
	if err != nil {
		return nil, err
	}
	about := fmt.Sprintf("aai-gateway %s\n%s/%s, %s\n%s\n%s\n", d.cfg.Version, runtime.GOOS, runtime.GOARCH,
		runtime.Version(),
		d.cfg.Now().UTC().Format("2006-01-02 15:04 MST"), distribution())
	var names []string
	for _, variable := range d.cfg.Environ {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return []bundlePart{
		{"report.json", "what this command found", string(report) + "\n"},
		{"about.txt", "the version, the system, the time", about},
		{"environment.txt", "the names of the variables, without their values", strings.Join(names, "\n") + "\n"},
		{"settings.txt", "the names of the settings in your file, without their values", d.settingNames()},
	}, nil
}

// distribution returns the name of the operating system.
func distribution() string {
	b, _ := os.ReadFile("/etc/os-release") // other systems have none
	name := ""
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			name = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return cmp.Or(name, runtime.GOOS)
}

// settingNames returns the names of the settings in the file. Other names may be misplaced values.
func (d *Doctor) settingNames() string {
	b, err := os.ReadFile(d.cfg.Settings)
	if err != nil {
		return "there is no file that can be read\n"
	}
	known := slices.Clone(d.cfg.SettingNames)
	for _, name := range d.cfg.SettingNames {
		known = append(known, strings.Split(name, ".")...)
	}
	names := slices.DeleteFunc(namesIn(b), func(name string) bool { return !slices.Contains(known, name) })
	return strings.Join(names, "\n") + "\n"
}

// namesIn returns the names of members in a JSON text, also an invalid one.
func namesIn(text []byte) (names []string) {
	for _, name := range settingName().FindAllSubmatch(text, -1) {
		names = append(names, string(name[1]))
	}
	return names
}

// settingName matches a name in JSON, also in an invalid file.
func settingName() *regexp.Regexp { return regexp.MustCompile(`"([A-Za-z][A-Za-z0-9_.]*)"\s*:`) }

// secrets returns the texts to redact in a bundle: values of variables and settings that may be
// secret.
func (d *Doctor) secrets() []string {
	const short = 6 // shorter texts are words such as "auto", or occur everywhere
	var secrets []string
	for _, variable := range d.cfg.Environ {
		name, value, _ := strings.Cut(variable, "=")
		if sanitize.IsSecretName(name) && len(value) >= short {
			secrets = append(secrets, value)
		}
	}
	b, _ := os.ReadFile(d.cfg.Settings) // without a file there are no values to redact
	names := namesIn(b)
	for text := range strings.FieldsFuncSeq(string(b), func(c rune) bool { return c == '"' || c == '\n' }) {
		if text = strings.TrimSpace(text); len(text) >= short && strings.Trim(text, ":,{}[] \t") != "" &&
			!slices.Contains(names, text) {
			secrets = append(secrets, text)
		}
	}
	return secrets
}

// withoutNames replaces the home folder by "~", and the host of a screen by "(host)".
func (d *Doctor) withoutNames(text string) string {
	for _, variable := range d.cfg.Environ {
		host, number, remote := strings.Cut(strings.TrimPrefix(variable, "DISPLAY="), ":")
		if strings.HasPrefix(variable, "DISPLAY=") && remote && host != "" && !strings.Contains(host, "/") {
			text = strings.ReplaceAll(text, host+":"+number, "(host):"+number)
		}
	}
	if len(d.cfg.Home) < 2 {
		return text
	}
	return strings.ReplaceAll(text, d.cfg.Home, "~")
}
