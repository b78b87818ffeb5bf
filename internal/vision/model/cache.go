package model

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
)

// maxCached limits the remembered answers.
const maxCached = 64

// cache remembers answers by the picture and the question, in memory. The zero value is ready.
type cache struct {
	mu      sync.Mutex
	answers map[[sha256.Size]byte]Answer
	order   [][sha256.Size]byte // the oldest first
}

// ask returns the remembered answer, or calls send and remembers its complete answer.
func (c *cache) ask(ctx context.Context, q Question, send func(context.Context, Question) (Answer, error)) (Answer, error) {
	encoded, err := json.Marshal(q)
	if err != nil {
		return Answer{}, err
	}
	key := sha256.Sum256(encoded)
	c.mu.Lock()
	known, is := c.answers[key]
	c.mu.Unlock()
	if is {
		return Answer{Text: known.Text, Model: known.Model, IsCached: true}, nil
	}
	answer, err := send(ctx, q)
	if err != nil || answer.IsCut || answer.IsRefusal {
		return answer, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = make(map[[sha256.Size]byte]Answer)
	}
	if _, twice := c.answers[key]; !twice {
		c.order = append(c.order, key)
	}
	c.answers[key] = answer
	if len(c.order) > maxCached {
		delete(c.answers, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	return answer, nil
}
