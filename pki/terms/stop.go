package terms

import "strings"

// stopWords say nothing about what a piece of text is about.
const stopWords = `a an and any are as at be been but by can cannot could did do does doing done each either
etc for from get gets getting got had has have having he her here him his how however i if in into is it its itself just let like
made make makes making may me might more most much must my no nor not now of off on once one only onto or other our out over own
per please same see she should shouldn since so some such than that the their them then there these they this those though through
to too under until up upon us use used user uses using very via want was we well were what when where whether which while who whom
whose why will with within without would yet you your don doesn didn isn aren wasn won im ive thanks thank hi hello
the's it's that's don't doesn't didn't isn't can't won't i'm i've`

// askingWords are stop words that make the question. The other ones may be what
// it asks for, because something bears their name.
const askingWords = `a an and are as at can could did do does for from how i in into is it my of on or our out that the there these
this those to we what when where whether which who why will with would you your please me thanks thank`

// Asking returns the stop words that are never a name that is asked for.
func Asking() StopWords {
	set := StopWords{}
	for _, w := range strings.Fields(askingWords) {
		set[w] = true
	}
	return set
}

// faintWords say what kind of text it is, or what somebody wants done, more
// than what it is about.
const faintWords = `fix fixes fixed bug issue problem add adds added adding support supports change changes changed update updates updated
allow allows ensure improve implement introduce prevent avoid handle handling remove removed correct correctly properly proper
description steps reproduce expected actual behavior behaviour version following example seem seems work works working try trying tried
need needs instead also still currently already possible new better wrong incorrect incorrectly unexpected code case cases way thing
minimal simple related see think know happen happens happened result results report reports reported return returns returned given
function method class file line lines`

// Faint returns words that count for less in a question.
func Faint() StopWords {
	set := StopWords{}
	for _, w := range strings.Fields(faintWords) {
		set[w] = true
	}
	return set
}

// StopWords is a set of words, in small letters.
type StopWords map[string]bool

// Stops returns the words that a question may contain and that are no part of
// what it asks for.
func Stops() StopWords {
	set := StopWords{}
	for _, w := range strings.Fields(stopWords) {
		set[w] = true
	}
	return set
}

// keywords are the words of programming languages that stand in nearly every
// body, and the commonest words of comments.
const keywords = `if else for while do return break continue switch case default const var let func function fn def class struct
enum type int char void string bool boolean float double long short unsigned signed static public private protected final this
self new nil null none true false import from package use using pub mut impl end begin then and or not in is as of to the a an
that it be by on with at are was this elif pass lambda try catch except finally throw throws raise with yield async await extends
implements override virtual inline extern typedef sizeof export err u8 u16 u32 u64 i8 i16 i32 i64 usize size_t uint8 uint16
uint32 uint64 int8 int16 int32 int64 ok where match val fun auto namespace`

// Common returns the terms that are left out of bodies.
func Common() map[ID]bool {
	set := map[ID]bool{}
	for _, w := range strings.Fields(keywords) {
		ids, _ := Of(w, nil)
		for _, id := range ids {
			set[id] = true
		}
	}
	return set
}
