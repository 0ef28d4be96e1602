const React = require('react');
const { Button, Icon: Mark } = require('./ui');
const first = require('./ui').first;
import('./lazy');

class Page extends React.Component {
  #hidden = new Button();
  state = { open: false };
  render() {
    const { title, ...rest } = this.props;
    return <Page.Body title={title} {...rest}><Button onClick={() => this.close()} /><div>{first}</div><Mark /></Page.Body>;
  }
  close() { this.#hidden.click(); }
}

function helper(a, [b, c = Mark], ...d) { var e = a; return e + b + c + d + f; var f; }
exports.helper = helper;
exports.run = function () { helper(); };
module.exports = { Page, helper, other: Page };
