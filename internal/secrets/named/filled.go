package named

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// filledLifetime is how long all gateways of the person keep a filled value of a reference out of replies.
const filledLifetime = 12 * time.Hour

// maxFilled limits the kept values; the oldest ones are dropped.
const maxFilled = 200

// A filledValue is a value of a reference that a gateway of the person has filled. The gateways share such values, sealed
// and in the runtime folder, because any of them may read the window that shows one.
type filledValue struct {
	Value string    `json:"value"`
	At    time.Time `json:"at"`
}

// share adds a value to those that all gateways of the person keep out of replies.
func (s *Store) share(ctx context.Context, value string) error {
	if s.config.FilledFile == "" {
		return nil
	}
	return atomicfile.Update(ctx, s.config.FilledFile, fileLimits(), func(old []byte) ([]byte, error) {
		values, _ := s.decodeFilled(ctx, old) // a damaged file is of no use
		oldest := s.config.Now().Add(-filledLifetime)
		values = slices.DeleteFunc(values, func(v filledValue) bool { return v.Value == value || v.At.Before(oldest) })
		values = append(values, filledValue{value, s.config.Now()})
		content, err := json.Marshal(values[max(0, len(values)-maxFilled):])
		if err != nil {
			return nil, err
		}
		return s.config.Seal(ctx, content)
	})
}

func (s *Store) decodeFilled(ctx context.Context, content []byte) (values []filledValue, err error) {
	if len(content) == 0 {
		return nil, nil
	}
	if content, err = s.config.Open(ctx, content); err != nil {
		return nil, err
	}
	err = json.Unmarshal(content, &values)
	return values, err
}

// recall adds the values that other gateways of the person have filled, if there are new ones.
func (s *Store) recall(ctx context.Context) error {
	info, err := os.Lstat(s.config.FilledFile)
	if s.config.FilledFile == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.filledSeen != nil && os.SameFile(info, s.filledSeen) && info.ModTime().Equal(s.filledSeen.ModTime()) {
		return nil
	}
	content, err := atomicfile.Read(s.config.FilledFile, fileLimits())
	if err != nil {
		return err
	}
	values, err := s.decodeFilled(ctx, content)
	if err != nil {
		return err
	}
	for _, v := range values {
		s.values.Add(v.Value)
	}
	s.filledSeen = info
	return nil
}
