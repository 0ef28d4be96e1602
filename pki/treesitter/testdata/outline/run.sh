#!/bin/bash
# A script.
set -e
LIMIT=3
export PATH_TO="/x"
readonly NAME=n
declare -a list=(1 2)

# Starts it.
start() {
  local x=1
  inner() { :; }
  y=2
}

function stop {
  cat <<EOT
not_a_function() {
EOT
}

function both() ( : )

ns::name() { :; }

broken( { 

after() { echo; }
