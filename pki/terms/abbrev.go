package terms

import "strings"

// abbreviations are the short forms that programmers write, beside what they
// stand for.
const abbreviations = `
abs absolute
addr address
alloc allocate allocation
app application
arg argument
args arguments
arr array
async asynchronous
attr attribute
auth authentication authorization
avg average
bg background
bool boolean
btn button
buf buffer
calc calculate
cb callback
cert certificate
cfg config configuration
char character
chk check
clr clear
cmd command
cmp compare
col column
coll collection
comm communication
comp component
conf config configuration
config configuration
conn connection
const constant
coord coordinate
ctl control
ctrl control controller
ctx context
cur current
curr current
db database
decl declaration
def definition default
del delete
deps dependencies
desc description descriptor
dest destination
dev device development
dict dictionary
diff difference
dir directory
dirs directories
disp display
dns domain
doc documentation document
docs documentation
dst destination
dup duplicate
elem element
enc encode encoding
env environment
eq equal
err error
errs errors
eval evaluate
evt event
exc exception
exec execute execution
expr expression
ext extension
fd descriptor
fmt format
fn function
fs filesystem
func function
gc garbage
gen generate generator
hdr header
hmr reload
idx index
impl implementation implement
inc increment include
info information
init initialize initialise initialization
int integer
intf interface
iface interface
io input output
iter iterator iterate
kv key value
len length
lex lexer
lib library
lvl level
max maximum
mem memory
mgr manager
min minimum
misc miscellaneous
mod module
msg message
mtx mutex
mut mutable
nav navigation
neg negative
num number
obj object
op operation operator
opt option
opts options
orig original
os operating
param parameter
params parameters
perf performance
pkg package
pos position
pred predicate
prefs preferences
prev previous
priv private
proc process procedure
prod production
prop property
props properties
proto protocol prototype
ptr pointer
pub public publish
pwd password
qs queryset
rand random
recv receive receiver
ref reference
reg register
regex regexp
rel relative
repo repository
repr representation
req request require
res response result resource
resp response
ret return
rev revision reverse
rm remove
sem semaphore
seq sequence
sess session
sig signature signal
spec specification
src source
srv server service
stat status statistics
std standard
stmt statement
str string
sub subscribe
svc service
sync synchronize synchronous
sys system
tbl table
tmp temporary
tok token
trans transaction translation
tx transaction transmit
txt text
ty type
upd update
url uri
usr user
util utility
utils utilities
val value
var variable
vec vector
ver version
win window
ws websocket
`

// Abbreviations maps a word's term to those of its short and long forms.
func Abbreviations() map[ID][]ID {
	out := map[ID][]ID{}
	for line := range strings.Lines(abbreviations) {
		words := strings.Fields(line)
		for _, long := range words[min(1, len(words)):] {
			a, b := Word(words[0]), Word(long)
			if a == b {
				continue
			}
			out[a] = append(out[a], b)
			out[b] = append(out[b], a)
		}
	}
	return out
}
