package lint

import (
	"cmp"
	"fmt"
	"github.com/gybob/aai-gateway/internal/answer"
	"regexp"
	"strconv"
	"strings"
)

// A version is a version of Semantic Versioning 2.0.0.
type version struct {
	major, minor, patch uint64
	pre                 []string // the identifiers of a pre-release
}

func parseVersion(s string) (version, bool) {
	const number, identifier = `(0|[1-9]\d*)`, `(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`
	form := regexp.MustCompile(`^` + number + `\.` + number + `\.` + number +
		`(?:-(` + identifier + `(?:\.` + identifier + `)*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$`)
	if len(s) > 200 {
		return version{}, false
	}
	m := form.FindStringSubmatch(s)
	if m == nil {
		return version{}, false
	}
	var v version
	for i, to := range []*uint64{&v.major, &v.minor, &v.patch} {
		n, err := strconv.ParseUint(m[i+1], 10, 64)
		if err != nil {
			return version{}, false
		}
		*to = n
	}
	if m[4] != "" {
		v.pre = strings.Split(m[4], ".")
	}
	return v, true
}

func (v version) core() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

// compare orders versions by precedence (section 11).
func (v version) compare(o version) int {
	if c := cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor), cmp.Compare(v.patch, o.patch)); c != 0 {
		return c
	}
	if len(v.pre) == 0 || len(o.pre) == 0 {
		return cmp.Compare(len(o.pre), len(v.pre)) // a release comes after its pre-releases
	}
	for i := range min(len(v.pre), len(o.pre)) {
		if c := compareIdentifiers(v.pre[i], o.pre[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(o.pre))
}

func compareIdentifiers(a, b string) int {
	isNumber := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	switch {
	case isNumber(a) && isNumber(b):
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // without leading zeros
	case isNumber(a):
		return -1
	case isNumber(b):
		return 1
	}
	return cmp.Compare(a, b)
}

// bumpTo returns the bump from v to to. It is NoBump if to is equal or lower, or if only the
// pre-release or the build differs.
func (v version) bumpTo(to version) answer.Bump {
	switch {
	case v.compare(to) >= 0:
		return answer.NoBump
	case to.major != v.major:
		return answer.Major
	case to.minor != v.minor:
		return answer.Minor
	case to.patch != v.patch:
		return answer.Patch
	case len(v.pre) > 0:
		return answer.Major // pre-releases promise nothing
	}
	return answer.NoBump
}

// NextVersion returns the lowest version that raises text by the bump, or text for NoBump. ok is false if text is no
// semantic version.
func NextVersion(text string, b answer.Bump) (raised string, ok bool) {
	v, ok := parseVersion(text)
	if !ok || b == answer.NoBump {
		return text, ok
	}
	return v.next(b).core(), true
}

// next returns the lowest version with the bump.
func (v version) next(b answer.Bump) version {
	switch b {
	case answer.Major:
		return version{major: v.major + 1}
	case answer.Minor:
		return version{major: v.major, minor: v.minor + 1}
	case answer.Patch:
		return version{major: v.major, minor: v.minor, patch: v.patch + 1}
	case answer.NoBump:
	}
	return v
}
