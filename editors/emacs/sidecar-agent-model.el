;;; sidecar-agent-model.el --- A run as its events tell it  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Events of docs/protocol.md become blocks of a conversation, and what is so now.

;;; Code:

(require 'cl-lib)
(require 'sidecar-agent-text)

(cl-defstruct (sidecar-agent-model (:constructor sidecar-agent-model-make) (:conc-name sidecar-agent-m-))
  "A run.  BLOCKS has its blocks, the newest first; NEW and CHANGED those to be drawn."
  run root (last 0) blocks (count 0) new changed (agent "") (title "") (session "") (state "idle") retry starting ended
  plan queue paused usage
  (questions (make-hash-table :test 'equal)) (messages (make-hash-table :test 'equal)) (calls (make-hash-table :test 'equal)))

(cl-defstruct (sidecar-agent-block (:constructor sidecar-agent-block-make) (:conc-name sidecar-agent-b-))
  "A block of the KIND you, text, thought, call, question, note or end.
LINES and OUTPUT have the last line first.  DRAWN is its text in the buffer, and
FOLD whether it is folded there: `open', `closed' or nil, for what can't be."
  kind index time lines steered
  (what "") (title "") (state "proposed") over locations diff output (before 0)
  id (text "") options call irrecoverable closed answer by reason
  drawn fold by-hand before-it)

(defun sidecar-agent--touch (m block)
  "Have BLOCK of M drawn."
  (unless (or (memq block (sidecar-agent-m-new m)) (memq block (sidecar-agent-m-changed m)))
    (push block (sidecar-agent-m-changed m))))

(defun sidecar-agent--add (m &rest slots)
  "Add a block of SLOTS to M."
  (let ((block (apply #'sidecar-agent-block-make :index (cl-incf (sidecar-agent-m-count m)) :before-it (car (sidecar-agent-m-blocks m)) slots)))
    (push block (sidecar-agent-m-blocks m))
    (push block (sidecar-agent-m-new m))
    block))

(defun sidecar-agent--path (m path)
  "PATH as it is shown in M: below the root if it is there."
  (let ((root (concat (sidecar-agent-m-root m) "/")))
    (sidecar-agent--line (if (string-prefix-p root path) (substring path (length root)) path) 200)))

(defun sidecar-agent--some (text)
  "TEXT, or nil if it is empty."
  (and (stringp text) (not (string-empty-p text)) text))

(defun sidecar-agent--message (m e)
  "Take E, a part of a message or all of it, into M."
  (let* ((kind (cond ((equal (plist-get e :kind) "thought") 'thought) ((equal (plist-get e :role) "user") 'you) (t 'text)))
         (id (or (plist-get e :message) ""))
         (block (gethash id (sidecar-agent-m-messages m))))
    (unless (and block (eq (sidecar-agent-b-kind block) kind))
      (setq block (sidecar-agent--add m :kind kind :time (plist-get e :time))))
    (if-let ((delta (sidecar-agent--some (plist-get e :delta))))
        (progn
          (puthash id block (sidecar-agent-m-messages m))
          (setf (sidecar-agent-b-lines block) (sidecar-agent--append (sidecar-agent-b-lines block) delta)))
      (remhash id (sidecar-agent-m-messages m))
      (setf (sidecar-agent-b-lines block) (sidecar-agent--lines (or (plist-get e :text) ""))))
    (sidecar-agent--touch m block)))

(defconst sidecar-agent--kept 200 "Lines of an output.")

(defun sidecar-agent--output (block e)
  "Take the output E of a call into BLOCK."
  (when (sidecar-agent--some (plist-get e :text))
    (setf (sidecar-agent-b-output block) nil (sidecar-agent-b-before block) 0))
  (let* ((text (or (sidecar-agent--some (plist-get e :text)) (plist-get e :delta) ""))
         (lines (sidecar-agent--append (sidecar-agent-b-output block) (sidecar-agent--plain text)))
         (over (- (length lines) sidecar-agent--kept)))
    (when (> over 0)
      (setq lines (seq-take lines sidecar-agent--kept))
      (cl-incf (sidecar-agent-b-before block) over))
    (setf (sidecar-agent-b-output block) lines)))

(defun sidecar-agent--call (m e kind)
  "Take E, which is of the KIND call.something, into M."
  (let* ((call (plist-get e :call)) (id (or (plist-get call :call) "")) (outcome (plist-get call :outcome))
         (block (gethash id (sidecar-agent-m-calls m))))
    (when (or (null block) (and (equal kind "call.proposed") (sidecar-agent-b-over block)))
      (setq block (puthash id (sidecar-agent--add m :kind 'call) (sidecar-agent-m-calls m))))
    (when-let ((what (plist-get call :kind))) (setf (sidecar-agent-b-what block) what))
    (when-let ((title (sidecar-agent--some (plist-get call :title)))) (setf (sidecar-agent-b-title block) title))
    (unless (seq-empty-p (plist-get call :locations)) (setf (sidecar-agent-b-locations block) (plist-get call :locations)))
    (unless (seq-empty-p (plist-get call :diff)) (setf (sidecar-agent-b-diff block) (plist-get call :diff)))
    (pcase kind
      ("call.started" (setf (sidecar-agent-b-state block) "running"))
      ("call.decided" (when (equal outcome "deny") (setf (sidecar-agent-b-state block) "denied")))
      ("call.output" (sidecar-agent--output block e))
      ("call.finished" (setf (sidecar-agent-b-state block) (if (equal outcome "completed") outcome "failed") (sidecar-agent-b-over block) t)))
    (sidecar-agent--touch m block)))

(defconst sidecar-agent--silent
  '("ready" "title" "session" "chosen" "changes" "session_info_update" "available_commands_update" "current_mode_update" "config_option_update")
  "Notes that say nothing to people.")

(defun sidecar-agent--note (m e)
  "Take the note E into M."
  (let ((reason (plist-get e :reason)) (text (sidecar-agent--some (plist-get e :text))))
    (when-let ((title (sidecar-agent--some (plist-get e :title)))) (setf (sidecar-agent-m-title m) title))
    (when (member reason '("starting" "ready" "failed")) (setf (sidecar-agent-m-starting m) (equal reason "starting")))
    (cond
     ((equal reason "failed") (sidecar-agent--add m :kind 'end :reason reason :lines (sidecar-agent--lines (sidecar-agent--plain (or text "")))))
     (text (sidecar-agent--add m :kind 'note :lines (sidecar-agent--lines text)))
     ((not (member reason sidecar-agent--silent)) (sidecar-agent--other m (or reason (plist-get e :kind)))))))

(defun sidecar-agent--other (m name)
  "Tell in M of an event that is not known."
  (sidecar-agent--add m :kind 'note :lines (list (concat "Other event: " (sidecar-agent--line name 100)))))

(defun sidecar-agent--answered (m e)
  "Close the question that E answers in M."
  (let* ((id (or (plist-get e :question) "")) (block (gethash id (sidecar-agent-m-questions m))) (answer (plist-get e :answer)))
    (when block
      (remhash id (sidecar-agent-m-questions m))
      (setf (sidecar-agent-b-closed block) t (sidecar-agent-b-by block) (plist-get e :by) (sidecar-agent-b-reason block) (plist-get e :reason)
            (sidecar-agent-b-answer block)
            (or (plist-get (seq-find (lambda (option) (equal (plist-get option :id) answer)) (sidecar-agent-b-options block)) :label) answer))
      (sidecar-agent--touch m block))))

(defun sidecar-agent--apply (m e)
  "Take the event E into M."
  (let* ((kind (or (plist-get e :kind) "")) (text (or (plist-get e :text) "")) (reason (plist-get e :reason)))
    (setf (sidecar-agent-m-last m) (max (sidecar-agent-m-last m) (or (plist-get e :seq) 0)))
    (pcase kind
      ((and (pred (string-prefix-p "call.")) (guard (plist-get e :call))) (sidecar-agent--call m e kind))
      ((or "text" "thought") (sidecar-agent--message m e))
      ("run.start" (setf (sidecar-agent-m-agent m) (or (plist-get e :agent) "") (sidecar-agent-m-title m) (or (plist-get e :title) "")
                         (sidecar-agent-m-session m) (or (plist-get e :session) "")))
      ("step.start")
      ("plan" (setf (sidecar-agent-m-plan m) (append (plist-get e :plan) nil)))
      ("question" (puthash (plist-get e :question)
                           (sidecar-agent--add m :kind 'question :id (plist-get e :question) :text text :options (append (plist-get e :options) nil)
                                               :call (plist-get e :call) :irrecoverable (eq (plist-get e :irrecoverable) t))
                           (sidecar-agent-m-questions m)))
      ("answered" (sidecar-agent--answered m e))
      ("state" (setf (sidecar-agent-m-state m) (or (plist-get e :state) (sidecar-agent-m-state m)) (sidecar-agent-m-retry m) (plist-get e :retryAt)))
      ("queue" (setf (sidecar-agent-m-queue m) (append (plist-get e :items) nil) (sidecar-agent-m-paused m) (eq (plist-get e :paused) t)))
      ("usage" (setf (sidecar-agent-m-usage m) (plist-get e :usage)))
      ("note" (sidecar-agent--note m e))
      ("steer" (sidecar-agent--add m :kind 'you :time (plist-get e :time) :steered t :lines (sidecar-agent--lines text)))
      ("compaction" (sidecar-agent--add m :kind 'note :lines (sidecar-agent--lines (concat "Shortened its memory\n" text))))
      ("child" (sidecar-agent--add m :kind 'note :lines (sidecar-agent--lines (format "Sub-agent %s\n%s" (or (plist-get e :child) "") text))))
      ("run.end"
       (setf (sidecar-agent-m-starting m) nil (sidecar-agent-m-ended m) reason)
       (unless (and (equal reason "done") (string-empty-p text))
         (sidecar-agent--add m :kind 'end :reason (or reason "") :lines (sidecar-agent--lines (sidecar-agent--plain text)))))
      (_ (sidecar-agent--other m kind)))))

(provide 'sidecar-agent-model)
;;; sidecar-agent-model.el ends here
