package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxSuggestions is how many settings are named in the place of one that there is not.
const maxSuggestions = 3

// nearestSettings are the settings that are likest to a key, at most three: as it is written, by
// its last part, of its group. In files of the desktop tools settings have other names too.
func nearestSettings(key, origin string, names []string) []string {
	if strings.HasSuffix(origin, ".toml") {
		names = slices.Concat(names, slices.Sorted(maps.Keys(settingAliases())))
	}
	group, last := "", key
	if at := strings.LastIndexByte(key, '.'); at >= 0 {
		group, last = key[:at], key[at+1:]
	}
	byLast := make(map[string]string)
	var lasts []string
	for _, name := range names {
		part := name[strings.LastIndexByte(name, '.')+1:]
		if _, taken := byLast[part]; !taken {
			byLast[part] = name
			lasts = append(lasts, part)
		}
	}
	near := aai.Nearest(key, names, maxSuggestions)
	for _, part := range aai.Nearest(last, lasts, maxSuggestions) {
		near = append(near, byLast[part])
	}
	for _, name := range names { // the group's name may be the setting's
		if last != "" && strings.HasPrefix(name, last) {
			near = append(near, name)
		}
	}
	for _, name := range names {
		if group != "" && strings.HasPrefix(name, group+".") {
			near = append(near, name)
		}
	}
	return firstDistinct(near)
}

// firstDistinct are the first three, each once.
func firstDistinct(names []string) []string {
	var first []string
	for _, name := range names {
		if !slices.Contains(first, name) && len(first) < maxSuggestions {
			first = append(first, name)
		}
	}
	return first
}
